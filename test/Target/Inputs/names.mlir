!x = tensor<4xf32>
etdg.graph @"a<b>&\22c\22"(%xs: !etdg.buffer<[L], !x>) -> !etdg.buffer<[L], !x> {
  %y = etdg.buffer {name_hint = "y & <z>"} : !etdg.buffer<[L], !x>
  etdg.block @"r<1>" [map] (i) in [0, L) reads (%x = %xs[L - i - 1] : !x) writes (%y[i]) {
    %0 = arith.addf %x, %x : !x
    etdg.yield %0 : !x
  } : !etdg.buffer<[L], !x>, !etdg.buffer<[L], !x>
  etdg.return %y : !etdg.buffer<[L], !x>
}
