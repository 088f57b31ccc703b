from astile.loops import shared


def padded(img, out):
    h, w = img.shape
    for y_0 in range((h + 7) // 8):
        for x_0 in range((w + 7) // 8):
            img_shared = shared.empty((10, 10), img.dtype)
            for img_0 in range(10):
                for img_1 in range(10):
                    if 0 < y_0 * 8 + img_0 <= h and 0 < x_0 * 8 + img_1 <= w:
                        img_shared[img_0, img_1] = img[y_0 * 8 + img_0 - 1, x_0 * 8 + img_1 - 1]
            for y_1 in range(8):
                if y_0 * 8 + y_1 < h:
                    for x_1 in range(8):
                        if x_0 * 8 + x_1 < w:
                            s = 0.0
                            if (
                                y_0 * 8 + y_1 > 0
                                and x_0 * 8 + x_1 > 0
                                and y_0 * 8 + y_1 < h - 1
                                and x_0 * 8 + x_1 < w - 1
                            ):
                                for i in range(-1, 2):
                                    for j in range(-1, 2):
                                        s += img_shared[y_1 + i + 1, x_1 + j + 1]
                            out[y_0 * 8 + y_1, x_0 * 8 + x_1] = s
