// What types and attributes refuse. Numbers are those of the descriptions.
//
// RUN: ft-opt %s --allow-unregistered-dialect --split-input-file --verify-diagnostics

// expected-error @+1 {{(T1) a list has 1 to 16 programmable dimensions, found 0}}
func.func private @t1(!ft.list<[], tensor<2xf32>>)

// -----
// expected-error @+1 {{(T1) a list has 1 to 16 programmable dimensions, found 17}}
func.func private @t1(!ft.list<[1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1], tensor<2xf32>>)

// -----
// expected-error @+1 {{(T2) the element of a list is a ranked tensor of static shape with integer, index or float elements, or a tuple of such and lists, found 'tensor<?xf32>'}}
func.func private @t2(!ft.list<[L], tensor<?xf32>>)

// -----
// expected-error @+1 {{or a tuple of such and lists, found 'f32'}}
func.func private @t2(!ft.list<[L], f32>)

// -----
// expected-error @+1 {{or a tuple of such and lists, found '!ft.list<[K], tensor<f32>>'}}
func.func private @t2(!ft.list<[L], !ft.list<[K], tensor<f32>>>)

// -----
// expected-error @+1 {{or a tuple of such and lists, found 'tuple<tensor<f32>, memref<2xf32>>'}}
func.func private @t2(!ft.list<[L], tuple<tensor<f32>, memref<2xf32>>>)

// -----
// expected-error @+1 {{or a tuple of such and lists, found 'tensor<2xcomplex<f32>>'}}
func.func private @t2(!ft.list<[L], tensor<2xcomplex<f32>>>)

// -----
// expected-error @+1 {{(T3) length 1 of a list is negative: -1}}
func.func private @t3(!ft.list<[N, 2 - 3], tensor<2xf32>>)

// -----
// expected-error @+1 {{(T3) the byte size of the list's constant dimensions does not fit 63 bits}}
func.func private @t3(!ft.list<[4611686018427387904, N, 2], tensor<f32>>)

// -----
// expected-error @+1 {{(T3) the byte size of the list's constant dimensions does not fit 63 bits}}
func.func private @t3(!ft.list<[N, 8], tensor<288230376151711744xf32>>)

// -----
// expected-error @+1 {{expected an expression of integers and names, such as 'L - 2'}}
func.func private @expr(!ft.list<[N, ], tensor<2xf32>>)

// -----
// expected-error @+1 {{expected an integer, a name or '('}}
func.func private @expr(!ft.list<[N + ], tensor<2xf32>>)

// -----
// expected-error @+1 {{expected a factor after '*'}}
func.func private @expr(!ft.list<[2 * ], tensor<2xf32>>)

// -----
// expected-error @+1 {{expected an integer, a name or '(' after '-'}}
func.func private @expr(!ft.list<[-], tensor<2xf32>>)

// -----
// expected-error @+1 {{expected ')' at ''}}
"test.attribute"() {a = #ft.bounds<"(L + 1 >= 2">} : () -> ()

// -----
// expected-error @+1 {{divisor must be at least 1, found 0}}
func.func private @expr(!ft.list<[floordiv(L, 0)], tensor<2xf32>>)

// -----
// expected-error @+1 {{divisor must be at least 1, found -2}}
func.func private @expr(!ft.list<[mod(L, -2)], tensor<2xf32>>)

// -----
// expected-error @+1 {{integer value too large}}
func.func private @expr(!ft.list<[99999999999999999999], tensor<2xf32>>)

// -----
// The end of an attribute is looked for before it is parsed, so bounds are quoted.
// expected-error @+1 {{expected an inequality in quotes: #ft.bounds<"L >= 5">}}
"test.attribute"() {a = #ft.bounds<L>} : () -> ()

// -----
// expected-error @+1 {{expected '>=', '<=' or '==' in "L > 5"}}
"test.attribute"() {a = #ft.bounds<"L > 5">} : () -> ()

// -----
// expected-error @+1 {{expected an operator or the end at '5'}}
"test.attribute"() {a = #ft.bounds<"L 5 >= 3">} : () -> ()

// -----
// expected-error @+1 {{expected an expression of integers and names, such as 'L - 2' at ''}}
"test.attribute"() {a = #ft.bounds<"L >= ">} : () -> ()

// -----
// expected-error @+1 {{integer does not fit 64 bits at '9999999999999999'}}
"test.attribute"() {a = #ft.bounds<"L >= 99999999999999999999">} : () -> ()

// -----
// expected-error @+1 {{standard deviation must be finite and not negative}}
"test.attribute"() {a = #ft.normal<-1>} : () -> ()

// -----
// expected-error @+1 {{expected a finite range with its lower end first}}
"test.attribute"() {a = #ft.uniform<2, -2>} : () -> ()

// -----
// expected-error @+1 {{expected a range that is not empty}}
"test.attribute"() {a = #ft.index<4, 4>} : () -> ()

// -----
// expected-error @+1 {{a ragged length is no end of a range}}
"test.attribute"() {a = #ft.index<0, ragged(r)>} : () -> ()

// -----
// expected-error @+1 {{constant does not fit 63 bits}}
func.func private @expr(!ft.list<[L + 4611686018427387904 + 4611686018427387904], tensor<2xf32>>)

// -----
// expected-error @+1 {{constant does not fit 63 bits}}
func.func private @expr(!ft.list<[L * 4611686018427387904 * 2], tensor<2xf32>>)
