// Three nests that share two sequential loops: each reads, at other points of the
// same step or of earlier ones, what the others wrote, so that all thread
// blocks must have finished one nest before any begins the next. Whole numbers:
// a missing barrier shows.
//
//     a(s, t, i) = x(s, t, i) + c(s, t-1, N-1-i)
//     b(s, t, i) = 3 a(s, t, N-1-i) - a(s, t, i)
//     c(s, t, i) = b(s, t, N-1-i) xor c(s-1, t, i)

#first = #etdg.schedule<map = affine_map<(s, t, i) -> (s, t, i)>,
  loops = [<dimension = 0, kind = sequential>, <dimension = 1, kind = sequential>, <dimension = 2, kind = parallel>]>
!x = tensor<3x40xi32>

etdg.graph @shared_steps(%xs: !etdg.buffer<[S, T, N], !x>) -> (!etdg.buffer<[S, T, N], !x>, !etdg.buffer<[S, T, N], !x>)
    attributes {ft.lengths = {S = 4 : i64, T = 5 : i64, N = 9 : i64}} {
  %as = etdg.buffer : !etdg.buffer<[S, T, N], !x>
  %bs = etdg.buffer : !etdg.buffer<[S, T, N], !x>
  %cs = etdg.buffer : !etdg.buffer<[S, T, N], !x>
  etdg.kernel shared 2 {
    etdg.block @a [scanl, scanl, map] (s, t, i) in [0, S) x [0, T) x [0, N)
        reads (%x = %xs[s, t, i] : !x, %c = {t = 0: splat 0 : i32, t >= 1: %cs[s, t - 1, N - 1 - i]} : !x)
        writes (%as[s, t, i])
        schedule #first {
      %y = arith.addi %x, %c : !x
      etdg.yield %y : !x
    } : !etdg.buffer<[S, T, N], !x>, !etdg.buffer<[S, T, N], !x>, !etdg.buffer<[S, T, N], !x>
    etdg.block @b [scanl, scanl, map] (s, t, i) in [0, S) x [0, T) x [0, N)
        reads (%p = %as[s, t, N - 1 - i] : !x, %q = %as[s, t, i] : !x)
        writes (%bs[s, t, i])
        schedule #first {
      %three = arith.constant dense<3> : !x
      %m = arith.muli %p, %three : !x
      %y = arith.subi %m, %q : !x
      etdg.yield %y : !x
    } : !etdg.buffer<[S, T, N], !x>, !etdg.buffer<[S, T, N], !x>
    etdg.block @c [scanl, scanl, map] (s, t, i) in [0, S) x [0, T) x [0, N)
        reads (%b = %bs[s, t, N - 1 - i] : !x, %c = {s = 0: splat 7 : i32, s >= 1: %cs[s - 1, t, i]} : !x)
        writes (%cs[s, t, i])
        schedule #first {
      %y = arith.xori %b, %c : !x
      etdg.yield %y : !x
    } : !etdg.buffer<[S, T, N], !x>, !etdg.buffer<[S, T, N], !x>
  }
  etdg.return %bs, %cs : !etdg.buffer<[S, T, N], !x>, !etdg.buffer<[S, T, N], !x>
}
