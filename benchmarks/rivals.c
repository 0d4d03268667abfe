/* Kernels of the suite in C, as naive as in Python. An array is a pointer and its extents, in the order of the arguments. */
#include <stdint.h>

typedef int64_t n_t;

#define STREAMS(T, TAG)                                                                            \
    void saxpy_##TAG(T a, const T *x, n_t n, const T *y, n_t ny, T *out, n_t no) {                 \
        for (n_t i = 0; i < n; i++) out[i] = a * x[i] + y[i];                                      \
    }                                                                                              \
    double sum_##TAG(const T *x, n_t n) {                                                          \
        double s = 0.0;                                                                            \
        for (n_t i = 0; i < n; i++) s += x[i];                                                     \
        return s;                                                                                  \
    }                                                                                              \
    void matmul_##TAG(const T *a, n_t n, n_t m, const T *b, n_t m2, n_t p, T *c, n_t cn, n_t cp) { \
        for (n_t i = 0; i < n; i++)                                                                \
            for (n_t j = 0; j < p; j++) {                                                          \
                double acc = 0.0;                                                                  \
                for (n_t k = 0; k < m; k++) acc += (double)(a[i * m + k] * b[k * p + j]);          \
                c[i * p + j] = (T)acc;                                                             \
            }                                                                                      \
    }

STREAMS(float, f32)
STREAMS(double, f64)

double dot_f64(const double *x, n_t n, const double *y, n_t ny) {
    double s = 0.0;
    for (n_t i = 0; i < n; i++) s += x[i] * y[i];
    return s;
}

void prefix_sum(const double *x, n_t n, double *out, n_t no) {
    double s = 0.0;
    for (n_t i = 0; i < n; i++) out[i] = s += x[i];
}

void transpose(const double *a, n_t n, n_t m, double *b, n_t bn, n_t bm) {
    for (n_t i = 0; i < n; i++)
        for (n_t j = 0; j < m; j++) b[j * n + i] = a[i * m + j];
}

static void sweep(const double *from, double *to, n_t n, n_t m) {
    for (n_t i = 1; i < n - 1; i++)
        for (n_t j = 1; j < m - 1; j++) {
            const double *at = from + i * m + j;
            to[i * m + j] = 0.2 * (at[0] + at[-1] + at[1] + at[-m] + at[m]);
        }
}

void jacobi2d(double *a, n_t n, n_t m, double *b, n_t bn, n_t bm, n_t steps) {
    for (n_t s = 0; s < steps; s++) {
        sweep(a, b, n, m);
        sweep(b, a, n, m);
    }
}

void mandelbrot(n_t maxit, int32_t *out, n_t h, n_t w) {
    for (n_t i = 0; i < h; i++)
        for (n_t j = 0; j < w; j++) {
            double cr = -2.0 + 3.0 * (double)j / (double)w, ci = -1.5 + 3.0 * (double)i / (double)h, zr = 0.0, zi = 0.0;
            n_t it = 0;
            while (it < maxit && zr * zr + zi * zi < 4.0) {
                double t = zr * zr - zi * zi + cr;
                zi = 2.0 * zr * zi + ci;
                zr = t;
                it++;
            }
            out[i * w + j] = (int32_t)it;
        }
}
