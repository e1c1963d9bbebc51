# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Where PyTorch has the operators of the table, besides `torch.name` and `Tensor.name`: in its other modules, and as overloads of ATen."""

from __future__ import annotations

from .table import OPERATORS, TABLE

#: By module: `name`, or `name=operator` where this package calls the operator otherwise.
_MODULES = {
    "torch": "conj fill_ index_put_ real zero_",
    "torch.nn.functional": """
adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d adaptive_max_pool1d adaptive_max_pool2d adaptive_max_pool3d avg_pool1d avg_pool2d avg_pool3d batch_norm bilinear binary_cross_entropy
binary_cross_entropy_with_logits celu channel_shuffle conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d cosine_similarity
cross_entropy dropout elu embedding gelu grid_sample glu group_norm hardshrink hardsigmoid hardswish hardtanh huber_loss instance_norm interpolate kl_div l1_loss
layer_norm leaky_relu linear logsigmoid max_pool1d max_pool2d max_pool3d mse_loss nll_loss normalize one_hot pad pairwise_distance pdist pixel_shuffle
pixel_unshuffle prelu relu6 rms_norm scaled_dot_product_attention selu sigmoid smooth_l1_loss softmin softplus softshrink tanh
tanhshrink threshold triplet_margin_loss
""",
    "torch.special": """
digamma entr erf erfc erfinv exp2 expit=sigmoid expm1 gammaln=lgamma log1p logit logsumexp ndtr psi=digamma round sinc xlog1py xlogy
""",
    "torch.linalg": "matmul matrix_power vector_norm",
    "torchvision.ops": "batched_nms nms",
    "torchvision.ops.boxes": "batched_nms nms",
}

#: Overloads that take the operator's arguments in its order; others are in `aten`. `name` is the overload `default`.
_ATEN = """
abs absolute acos acosh adaptive_avg_pool1d adaptive_avg_pool2d add.Tensor addbmm addcdiv addcmul addmm addmv addr all all.dim all.dims amax amin
aminmax any any.dim any.dims arange arange.start arange.start_step arccos arccosh arcsin arcsinh arctan arctan2 arctanh argmax argmin argsort
argsort.stable argwhere as_strided asin asinh atan atan2 atanh atleast_1d atleast_2d atleast_3d avg_pool1d avg_pool2d avg_pool3d baddbmm bilinear bincount
bitwise_and.Scalar bitwise_and.Scalar_Tensor bitwise_and.Tensor bitwise_left_shift.Scalar_Tensor bitwise_left_shift.Tensor
bitwise_left_shift.Tensor_Scalar bitwise_not bitwise_or.Scalar bitwise_or.Scalar_Tensor bitwise_or.Tensor bitwise_right_shift.Scalar_Tensor
bitwise_right_shift.Tensor bitwise_right_shift.Tensor_Scalar bitwise_xor.Scalar bitwise_xor.Scalar_Tensor bitwise_xor.Tensor blackman_window
blackman_window.periodic block_diag bmm broadcast_tensors broadcast_to bucketize.Scalar bucketize.Tensor cartesian_prod cat cdist ceil celu
channel_shuffle chunk clamp clamp.Tensor clamp_max clamp_max.Tensor clamp_min clamp_min.Tensor clip clip.Tensor clone column_stack concat concatenate
conj constant_pad_nd contiguous conv1d conv1d.padding conv2d conv2d.padding conv3d conv3d.padding conv_transpose1d conv_transpose2d.input
conv_transpose3d.input copy_ copysign.Scalar copysign.Tensor corrcoef cos cosh cosine_similarity count_nonzero count_nonzero.dim_IntList cov cpu cross
cummax cummin cumprod cumsum cumulative_trapezoid.dx cumulative_trapezoid.x deg2rad detach diag diag_embed diagflat diagonal diagonal_scatter diff
digamma dim dist div.Scalar div.Scalar_mode div.Tensor div.Tensor_mode divide.Scalar divide.Scalar_mode divide.Tensor divide.Tensor_mode dot
dsplit.array dsplit.int dstack element_size empty.memory_format empty_like eq.Scalar eq.Tensor equal erf erfc erfinv exp exp2 expand expand_as expm1
eye eye.m fill_.Scalar fill_.Tensor fill_diagonal_ fix flatten.using_ints flip fliplr flipud float_power.Scalar float_power.Tensor_Scalar
float_power.Tensor_Tensor floor floor_divide floor_divide.Scalar fmax fmin fmod.Scalar fmod.Tensor frac full full_like gather gcd ge.Scalar ge.Tensor
gelu ger glu greater.Scalar greater.Tensor greater_equal.Scalar greater_equal.Tensor gru.input gru_cell gt.Scalar gt.Tensor hamming_window
hamming_window.periodic hann_window hann_window.periodic hardshrink hardsigmoid hardswish hardtanh heaviside histc hsplit.array hsplit.int hstack
hypot index_add index_add_ index_copy index_copy_ index_fill.int_Scalar index_fill.int_Tensor index_fill_.int_Scalar index_fill_.int_Tensor index_put
index_put_ index_select inner is_complex is_contiguous is_floating_point is_nonzero isclose isfinite isin.Scalar_Tensor isin.Tensor_Scalar
isin.Tensor_Tensor isinf isnan isneginf isposinf isreal item kron kthvalue lcm ldexp.Tensor le.Scalar le.Tensor leaky_relu lerp.Scalar lerp.Tensor
less.Scalar less.Tensor less_equal.Scalar less_equal.Tensor lgamma linalg_cross=torch.linalg.cross linalg_matmul=matmul
linalg_matrix_power=matrix_power linalg_multi_dot=torch.linalg.multi_dot linalg_vector_norm=vector_norm linear linspace log log10 log1p log2 logaddexp
logaddexp2 logcumsumexp logical_and logical_not logical_or logical_xor logit logspace logsumexp lstm.input lstm_cell lt.Scalar lt.Tensor
masked_fill.Scalar masked_fill.Tensor masked_scatter masked_scatter_ masked_select matmul matrix_power max max.dim max.other max_pool1d max_pool2d
maximum mean mean.dim median median.dim meshgrid meshgrid.indexing min min.dim min.other minimum mish mm moveaxis.int moveaxis.intlist movedim.int
movedim.intlist msort mul.Scalar mul.Tensor multiply.Scalar multiply.Tensor mv nan_to_num nanmean nansum narrow narrow.Tensor narrow_copy ne.Scalar
ne.Tensor neg negative new_empty new_full new_ones new_zeros nonzero norm.Scalar norm.ScalarOpt_dim norm.ScalarOpt_dim_dtype norm.ScalarOpt_dtype
not_equal.Scalar not_equal.Tensor numel one_hot ones ones_like outer pad pairwise_distance pdist permute pixel_shuffle pixel_unshuffle positive
pow.Scalar pow.Tensor_Scalar pow.Tensor_Tensor prelu prod prod.dim_int quantile quantile.scalar rad2deg ravel real reciprocal relu relu6
remainder.Scalar remainder.Scalar_Tensor remainder.Tensor repeat repeat_interleave.self_Tensor repeat_interleave.self_int reshape reshape_as rms_norm
rnn_relu.input rnn_relu_cell rnn_tanh.input rnn_tanh_cell roll rot90 round round.decimals row_stack rsqrt rsub.Tensor scalar_tensor
scaled_dot_product_attention scatter.src scatter.value scatter_.reduce scatter_.src scatter_.value scatter_add scatter_add_ scatter_reduce.two
scatter_reduce_.two searchsorted.Scalar searchsorted.Tensor select.int select_scatter selu sgn sigmoid sign signbit silu sin sinc sinh size size.int
slice_scatter softplus softshrink sort sort.stable special_digamma=digamma special_entr=entr special_erf=erf special_erfc=erfc special_erfinv=erfinv
special_exp2=exp2 special_expit=sigmoid special_expm1=expm1 special_gammaln=lgamma special_log1p=log1p special_log_softmax=log_softmax
special_logit=logit special_logsumexp=logsumexp special_ndtr=ndtr special_psi=digamma special_sinc=sinc special_xlog1py.other_scalar=xlog1py
special_xlog1py.self_scalar=xlog1py special_xlog1py=xlog1py special_xlogy.other_scalar=xlogy special_xlogy.self_scalar=xlogy special_xlogy=xlogy
split.Tensor split.sizes split_with_sizes sqrt square squeeze squeeze.dim squeeze.dims stack std.correction std.dim std_mean.correction std_mean.dim
stride sub.Tensor subtract.Tensor sum sum.dim_IntList sum_to_size swapaxes swapdims sym_size.int=size t take take_along_dim tan tanh tensor
tensor_split.indices tensor_split.sections threshold tile topk trace transpose.int trapezoid.dx trapezoid.x trapz.dx trapz.x tril tril_indices triu
triu_indices true_divide.Scalar true_divide.Tensor trunc type_as unbind.int unflatten.int unfold unsqueeze vander var.correction var.dim
var_mean.correction var_mean.dim vdot view view_as vsplit.array vsplit.int vstack where where.Scalar where.ScalarOther where.ScalarSelf where.self
xlogy.Scalar_Other xlogy.Scalar_Self xlogy.Tensor zero_ zeros zeros_like
"""


def _words(text: str):
    for word in text.split():
        path, _, name = word.partition("=")
        yield path, name


def fill() -> None:
    """Puts these paths into the table."""
    for home, names in _MODULES.items():
        for last, name in _words(names):
            TABLE[f"{home}.{last}"] = OPERATORS[name or last]
    for overload, name in _words(_ATEN):
        packet, dot, last = overload.partition(".")
        TABLE[f"aten.{packet}.{last if dot else 'default'}"] = OPERATORS[name or packet]
