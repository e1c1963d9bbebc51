# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The tails of detectors, whose sizes are parameters (`yolov3_of`, ...). They also run at the sizes of the published models, with their inputs: maps of 40
to 3, 80 or 81 classes, 1,000 candidates of a map. The small ones are in `script_programs.py`."""

import math

import torch

NAMES = ("yolov3", "ssd", "yolact", "fcos")


def nms(boxes, scores, labels, iou, top):
    import torchvision

    keep = torchvision.ops.batched_nms(boxes, scores, labels, iou)[:top]
    return boxes[keep], scores[keep], labels[keep]


def delta2box(prior, d, clamp):
    pxy = (prior[:, :2] + prior[:, 2:]) * 0.5
    pwh = prior[:, 2:] - prior[:, :2]
    dxy = d[:, :2] * 0.1
    dwh = (d[:, 2:] * 0.2).clamp(-clamp, clamp)
    gxy = pxy + pwh * dxy
    gwh = pwh * dwh.exp()
    return torch.cat([gxy - gwh * 0.5, gxy + gwh * 0.5], 1)


def _decoded(preds, anchors, classes):
    """preds [1,3(5+classes),h,w] x3, anchors [n,4] x3 -> boxes [1,n,4], scores [1,n,classes], objectness."""
    outs, strides = [], []
    for p, s in zip(preds, (32.0, 16.0, 8.0)):
        q = p.permute(0, 2, 3, 1).reshape(1, -1, 5 + classes).clone()
        q[..., :2].sigmoid_()
        outs.append(q)
        strides.append(torch.full((q.shape[1], 1), s, device=p.device))
    q, st, a = torch.cat(outs, 1), torch.cat(strides, 0), torch.cat(anchors, 0)
    obj, cls = torch.sigmoid(q[..., 4]), torch.sigmoid(q[..., 5:])
    xy = (a[:, :2] + a[:, 2:]) * 0.5 + (q[..., :2] - 0.5) * st
    wh = (a[:, 2:] - a[:, :2]) * 0.5 * torch.exp(q[..., 2:4])
    return torch.stack([xy[..., 0] - wh[..., 0], xy[..., 1] - wh[..., 1], xy[..., 0] + wh[..., 0], xy[..., 1] + wh[..., 1]], -1), cls, obj


def yolov3_of(preds, anchors, classes, object_at, class_at, top):
    box, cls, obj = _decoded(preds, anchors, classes)
    box, cls, obj = box[0], cls[0], obj[0]
    keep = obj >= object_at
    box, cls, obj = box[keep], cls[keep], obj[keep]
    idx = (cls > class_at).nonzero()
    return nms(box[idx[:, 0]], (cls * obj[:, None])[idx[:, 0], idx[:, 1]], idx[:, 1], 0.45, top)


def yolov3(p0, p1, p2, a0, a1, a2):
    """preds [1,255,h,w] x3, anchors [n,4] x3."""
    return yolov3_of((p0, p1, p2), (a0, a1, a2), 80, 0.005, 0.05, 100)


def ssd_of(cls, box, pri, classes, score_at, most, top):
    bs, ss, ls = [], [], []
    for c, b, p in zip(cls, box, pri):
        s = torch.softmax(c[0].permute(1, 2, 0).reshape(-1, classes), -1)[:, :-1]
        d = b[0].permute(1, 2, 0).reshape(-1, 4)
        idx = (s > score_at).nonzero()
        v = s[idx[:, 0], idx[:, 1]]
        v, o = v.sort(descending=True)
        o, v = o[:most], v[:most]
        r = idx[o]
        x = delta2box(p[r[:, 0]], d[r[:, 0]], abs(math.log(16.0 / 1000)))
        x[..., 0::2].clamp_(0, 320)
        x[..., 1::2].clamp_(0, 320)
        bs.append(x.clone())
        ss.append(v)
        ls.append(r[:, 1])
    return nms(torch.cat(bs), torch.cat(ss), torch.cat(ls), 0.45, top)


def ssd(*a):
    """cls [1,486,h,w] x6, box [1,24,h,w] x6, priors [n,4] x6."""
    return ssd_of(a[:6], a[6:12], a[12:], 81, 0.02, 1000, 100)


def yolact_of(box, cls, coe, pri, proto, classes, parts, score_at, most, each, top):
    B, S, C = [], [], []
    for b, c, k, p in zip(box, cls, coe, pri):
        s = torch.softmax(c[0].permute(1, 2, 0).reshape(-1, classes), -1)[:, :-1]
        d, k = b[0].permute(1, 2, 0).reshape(-1, 4), k[0].permute(1, 2, 0).reshape(-1, parts)
        n = min(most, s.shape[0])
        _, o = s.max(1).values.topk(n)
        x = delta2box(p[o], d[o], abs(math.log(16.0 / 1000)))
        x[..., 0::2].clamp_(0, 320)
        x[..., 1::2].clamp_(0, 320)
        B.append(x)
        S.append(s[o])
        C.append(torch.tanh(k[o]))
    b, s, c = torch.cat(B), torch.cat(S), torch.cat(C)
    s, o = s.t().contiguous().sort(1, descending=True)
    s, o = s[:, :each], o[:, :each]
    bb, cc = b[o], c[o]
    lt, rb = torch.maximum(bb[:, :, None, :2], bb[:, None, :, :2]), torch.minimum(bb[:, :, None, 2:], bb[:, None, :, 2:])
    wh = (rb - lt).clamp(min=0)
    inter = wh[..., 0] * wh[..., 1]
    ar = (bb[..., 2] - bb[..., 0]) * (bb[..., 3] - bb[..., 1])
    iou = inter / (ar[:, :, None] + ar[:, None] - inter + 1e-6)
    iou.triu_(1)
    keep = (iou.max(1).values <= 0.5) & (s > score_at)
    lab = torch.arange(classes - 1, device=s.device)[:, None].expand_as(keep)
    bb, cc, s, lab = bb[keep], cc[keep], s[keep], lab[keep]
    s, o = s.sort(descending=True)
    o, s = o[:top], s[:top]
    bb, cc, lab = bb[o], cc[o], lab[o]
    m = torch.sigmoid(proto @ cc.t())
    h, w, n = m.shape
    x1, x2 = torch.minimum(bb[:, 0], bb[:, 2]) * w / 320, torch.maximum(bb[:, 0], bb[:, 2]) * w / 320
    y1, y2 = torch.minimum(bb[:, 1], bb[:, 3]) * h / 320, torch.maximum(bb[:, 1], bb[:, 3]) * h / 320
    gx = torch.arange(w, device=m.device)[None, :, None].expand(h, w, n)
    gy = torch.arange(h, device=m.device)[:, None, None].expand(h, w, n)
    return bb, s, lab, (m * ((gx >= x1 - 1) & (gx < x2 + 1) & (gy >= y1 - 1) & (gy < y2 + 1))).permute(2, 0, 1)


def yolact(*a):
    """box [1,12,h,w] x5, cls [1,243,h,w] x5, coeff [1,96,h,w] x5, priors [n,4] x5, proto [80,80,32]."""
    return yolact_of(a[:5], a[5:10], a[10:15], a[15:20], a[20], 81, 32, 0.05, 1000, 200, 100)


def fcos_of(cls, box, cen, strides, classes, score_at, most):
    bs, ss, ls = [], [], []
    for c, b, e, st in zip(cls, box, cen, strides):
        h, w = c.shape[2:]
        yy, xx = torch.meshgrid(torch.arange(h, device=c.device), torch.arange(w, device=c.device), indexing="ij")
        sh = torch.zeros(h * w, 2, device=c.device)
        sh[:, 0].copy_((xx.reshape(-1) + 0.5) * st)
        sh[:, 1].copy_((yy.reshape(-1) + 0.5) * st)
        s = torch.sigmoid(c[0].permute(1, 2, 0).reshape(-1, classes))
        d = b[0].permute(1, 2, 0).reshape(-1, 4)
        z = torch.sigmoid(e[0].permute(1, 2, 0).reshape(-1))
        idx = (s > score_at).nonzero()
        v = s[idx[:, 0], idx[:, 1]]
        v, o = v.sort(descending=True)
        o, v = o[:most], v[:most]
        r = idx[o]
        p, q = sh[r[:, 0]], d[r[:, 0]]
        x = torch.stack([p[:, 0] - q[:, 0], p[:, 1] - q[:, 1], p[:, 0] + q[:, 2], p[:, 1] + q[:, 3]], -1)
        x[:, 0::2].clamp_(0, 320)
        x[:, 1::2].clamp_(0, 320)
        v *= z[r[:, 0]]
        bs.append(x)
        ss.append(v)
        ls.append(r[:, 1])
    boxes, scores, labels = torch.cat(bs), torch.cat(ss), torch.cat(ls)
    if boxes.numel() == 0:
        return boxes, scores, labels
    return nms(boxes, scores, labels, 0.5, 100)


def fcos(*a):
    """cls [1,80,h,w] x5, box [1,4,h,w] x5, centre [1,1,h,w] x5."""
    return fcos_of(a[:5], a[5:10], a[10:], (8, 16, 32, 64, 128), 80, 0.025, 1000)


def inputs(name):
    g = torch.Generator().manual_seed(0)

    def maps(channels, sizes, by=1.0, plus=0.0):
        return [torch.randn(1, channels, n, n, generator=g) * by + plus for n in sizes]

    def boxes(sizes, each):
        found = []
        for n in sizes:
            xy = torch.rand(each * n * n, 2, generator=g) * 280
            found.append(torch.cat([xy, xy + 10 + torch.rand(each * n * n, 2, generator=g) * 60], 1))
        return found

    if name == "yolov3":
        sizes = (10, 20, 40)
        return [*maps(255, sizes, 2.0, -7.0), *boxes(sizes, 3)]
    if name == "ssd":
        sizes = (20, 10, 5, 3, 2, 1)
        return [*maps(486, sizes, 1.5), *maps(24, sizes), *boxes(sizes, 6)]
    sizes = (40, 20, 10, 5, 3)
    if name == "yolact":
        return [*maps(12, sizes), *maps(243, sizes, 2.0), *maps(96, sizes), *boxes(sizes, 3), torch.randn(80, 80, 32, generator=g)]
    return [*maps(80, sizes, 1.2, -5.0), *(m.abs() * 30 for m in maps(4, sizes)), *maps(1, sizes)]
