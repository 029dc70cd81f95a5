// SPDX-License-Identifier: Apache-2.0
#include "engine/cpu/isa/fft_loops.h"

namespace tapescope::engine::cpu::TAPESCOPE_ISA {
namespace {

using Int = std::int64_t;

#if defined(__AVX512F__)
constexpr int kBytes = 64;
#elif defined(__AVX2__)
constexpr int kBytes = 32;
#else
constexpr int kBytes = 16;
#endif

/// L numbers that calculate together.
template <class T, int L>
struct Lanes {
    static constexpr int kCount = L;
    typedef T V __attribute__((vector_size(L * sizeof(T))));
    static V load(const T* from) {
        V v;
        __builtin_memcpy(&v, from, sizeof v);
        return v;
    }
    static void store(T* to, V v) { __builtin_memcpy(to, &v, sizeof v); }
    static V all(T x) { return x - V{}; }
};
template <class T>
struct Lanes<T, 1> {
    static constexpr int kCount = 1;
    using V = T;
    static V load(const T* from) { return *from; }
    static void store(T* to, V v) { *to = v; }
    static V all(T x) { return x; }
};

template <class V>
struct Complex {
    V re;
    V im;
    friend Complex operator+(Complex a, Complex b) { return {a.re + b.re, a.im + b.im}; }
    friend Complex operator-(Complex a, Complex b) { return {a.re - b.re, a.im - b.im}; }
    friend Complex operator*(Complex a, Complex b) {
        return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
    }
    /// -i times this.
    Complex turned() const { return {im, -re}; }
};

// Transforms of `radix` numbers, in place. L: the lanes' type.
template <class L, class C>
void transform4(C& a, C& b, C& c, C& d) {
    const C even = a + c;
    const C difference = a - c;
    const C odd = b + d;
    const C turned = (b - d).turned();
    a = even + odd;
    c = even - odd;
    b = difference + turned;
    d = difference - turned;
}

template <class T, class L, int radix>
struct Butterfly {
    using C = Complex<typename L::V>;
    static void run(const FftPass<T>& p, C* x) {
        if constexpr (radix == 2) {
            const C a = x[0];
            x[0] = a + x[1];
            x[1] = a - x[1];
        } else if constexpr (radix == 3) {
            const auto half = L::all(T(-0.5));
            const auto sine = L::all(T(0.866025403784438646763723170752936183));
            const C sum = x[1] + x[2];
            const C turned = (x[1] - x[2]).turned();
            const C middle{x[0].re + half * sum.re, x[0].im + half * sum.im};
            const C side{sine * turned.re, sine * turned.im};
            x[0] = x[0] + sum;
            x[1] = middle + side;
            x[2] = middle - side;
        } else if constexpr (radix == 4) {
            transform4<L>(x[0], x[1], x[2], x[3]);
        } else if constexpr (radix == 5) {
            const auto c1 = L::all(T(0.309016994374947424102293417182819059));
            const auto c2 = L::all(T(-0.809016994374947424102293417182819059));
            const auto s1 = L::all(T(0.951056516295153572116439333379382143));
            const auto s2 = L::all(T(0.587785252292473129168705954639072769));
            const C a = x[1] + x[4];
            const C b = x[2] + x[3];
            const C d = (x[1] - x[4]).turned();
            const C e = (x[2] - x[3]).turned();
            const C near{x[0].re + c1 * a.re + c2 * b.re, x[0].im + c1 * a.im + c2 * b.im};
            const C far{x[0].re + c2 * a.re + c1 * b.re, x[0].im + c2 * a.im + c1 * b.im};
            const C nearSide{s1 * d.re + s2 * e.re, s1 * d.im + s2 * e.im};
            const C farSide{s2 * d.re - s1 * e.re, s2 * d.im - s1 * e.im};
            x[0] = x[0] + a + b;
            x[1] = near + nearSide;
            x[4] = near - nearSide;
            x[2] = far + farSide;
            x[3] = far - farSide;
        } else if constexpr (radix == 8) {
            const auto r = L::all(T(0.707106781186547524400844362104849039));
            C a[4];
            C b[4];
            for (int j = 0; j < 4; ++j) {
                a[j] = x[j] + x[j + 4];
                b[j] = x[j] - x[j + 4];
            }
            b[1] = C{r * (b[1].re + b[1].im), r * (b[1].im - b[1].re)};
            b[2] = b[2].turned();
            b[3] = C{r * (b[3].im - b[3].re), -r * (b[3].re + b[3].im)};
            transform4<L>(a[0], a[1], a[2], a[3]);
            transform4<L>(b[0], b[1], b[2], b[3]);
            for (int j = 0; j < 4; ++j) {
                x[2 * j] = a[j];
                x[2 * j + 1] = b[j];
            }
        } else {  // any: the definition
            C y[kLargestRadix];
            for (int j = 0; j < p.radix; ++j) {
                y[j] = x[0];
                for (int i = 1, at = j; i < p.radix; ++i, at = (at + j) % p.radix)
                    y[j] = y[j] + x[i] * C{L::all(p.rootRe[at]), L::all(p.rootIm[at])};
            }
            for (int j = 0; j < p.radix; ++j) x[j] = y[j];
        }
    }
};

/// Along the transforms that lie side by side; stride >= the lanes.
template <class T, class L, int radix>
void passAside(const FftPass<T>& p, const T* xRe, const T* xIm, T* yRe, T* yIm) {
    using C = Complex<typename L::V>;
    const int r = radix > 0 ? radix : p.radix;
    constexpr int kMost = radix > 0 ? radix : kLargestRadix;
    for (Int k = 0; k < p.count; ++k) {
        C w[kMost];
        for (int j = 1; j < r; ++j)
            w[j] = {L::all(p.twiddleRe[(j - 1) * p.count + k]),
                    L::all(p.twiddleIm[(j - 1) * p.count + k])};
        for (Int q = 0; q < p.stride; q += L::kCount) {
            // The last ones once more rather than one by one: nothing here is read again.
            const Int at = q + L::kCount <= p.stride ? q : p.stride - L::kCount;
            C x[kMost];
#pragma GCC unroll 8
            for (int j = 0; j < r; ++j) {
                const Int from = (k + p.count * j) * p.stride + at;
                x[j] = {L::load(xRe + from), L::load(xIm + from)};
            }
            Butterfly<T, L, radix>::run(p, x);
#pragma GCC unroll 8
            for (int j = 0; j < r; ++j) {
                const C y = j == 0 ? x[0] : x[j] * w[j];
                const Int to = (r * k + j) * p.stride + at;
                L::store(yRe + to, y.re);
                L::store(yIm + to, y.im);
            }
        }
    }
}

/// The numbers 0, 1, ... as template arguments.
template <unsigned... i>
struct Sequence {};
template <unsigned n, unsigned... i>
struct Counted : Counted<n - 1, n - 1, i...> {};
template <unsigned... i>
struct Counted<0, i...> {
    using Type = Sequence<i...>;
};

/// a[0] b[0] a[1] b[1] ... of the lower or upper halves.
template <class L, unsigned... i>
typename L::V lowZip(typename L::V a, typename L::V b, Sequence<i...>) {
    return __builtin_shufflevector(a, b, (i / 2 + i % 2 * L::kCount)...);
}
template <class L, unsigned... i>
typename L::V highZip(typename L::V a, typename L::V b, Sequence<i...>) {
    return __builtin_shufflevector(a, b, (i / 2 + L::kCount / 2 + i % 2 * L::kCount)...);
}

/// Stores rows of lanes as columns: to[radix * l + j] = rows[j][l]. radix a power of two.
template <class T, class L, int radix>
void storeColumns(T* to, typename L::V* rows) {
    using All = typename Counted<L::kCount>::Type;
#pragma GCC unroll 3
    for (int step = 1; step < radix; step *= 2) {
        typename L::V next[radix];
#pragma GCC unroll 4
        for (int j = 0; j < radix / 2; ++j) {
            next[2 * j] = lowZip<L>(rows[j], rows[j + radix / 2], All{});
            next[2 * j + 1] = highZip<L>(rows[j], rows[j + radix / 2], All{});
        }
#pragma GCC unroll 8
        for (int j = 0; j < radix; ++j) rows[j] = next[j];
    }
#pragma GCC unroll 8
    for (int j = 0; j < radix; ++j) L::store(to + j * L::kCount, rows[j]);
}

/// The first pass of a transform alone (stride 1): along its elements, the results turned.
template <class T, class L, int radix>
void passAlong(const FftPass<T>& p, const T* xRe, const T* xIm, T* yRe, T* yIm) {
    using C = Complex<typename L::V>;
    for (Int k = 0; k < p.count; k += L::kCount) {
        C x[radix];
#pragma GCC unroll 8
        for (int j = 0; j < radix; ++j)
            x[j] = {L::load(xRe + p.count * j + k), L::load(xIm + p.count * j + k)};
        Butterfly<T, L, radix>::run(p, x);
        typename L::V re[radix];
        typename L::V im[radix];
        re[0] = x[0].re;
        im[0] = x[0].im;
#pragma GCC unroll 8
        for (int j = 1; j < radix; ++j) {
            const C w{L::load(p.twiddleRe + (j - 1) * p.count + k),
                      L::load(p.twiddleIm + (j - 1) * p.count + k)};
            const C y = x[j] * w;
            re[j] = y.re;
            im[j] = y.im;
        }
        storeColumns<T, L, radix>(yRe + radix * k, re);
        storeColumns<T, L, radix>(yIm + radix * k, im);
    }
}

/// With the most lanes that the pass fills.
template <class T, int radix, int L>
void passOf(const FftPass<T>& p, const T* xRe, const T* xIm, T* yRe, T* yIm) {
    if constexpr (L > 1 && (radix == 2 || radix == 4 || radix == 8)) {
        if (p.stride == 1 && p.count % L == 0)
            return passAlong<T, Lanes<T, L>, radix>(p, xRe, xIm, yRe, yIm);
    }
    if (p.stride >= L) return passAside<T, Lanes<T, L>, radix>(p, xRe, xIm, yRe, yIm);
    if constexpr (L > 1) passOf<T, radix, L / 2>(p, xRe, xIm, yRe, yIm);
}

template <class T>
void pass(const FftPass<T>& p, const T* xRe, const T* xIm, T* yRe, T* yIm) {
    constexpr int kMost = kBytes / static_cast<int>(sizeof(T));
    switch (p.radix) {
        case 2:
            return passOf<T, 2, kMost>(p, xRe, xIm, yRe, yIm);
        case 3:
            return passOf<T, 3, kMost>(p, xRe, xIm, yRe, yIm);
        case 4:
            return passOf<T, 4, kMost>(p, xRe, xIm, yRe, yIm);
        case 5:
            return passOf<T, 5, kMost>(p, xRe, xIm, yRe, yIm);
        case 8:
            return passOf<T, 8, kMost>(p, xRe, xIm, yRe, yIm);
        default:
            return passOf<T, 0, kMost>(p, xRe, xIm, yRe, yIm);
    }
}

template <class T>
void split(Int n, const T* pairs, T* re, T* im) {
#pragma GCC ivdep
    for (Int i = 0; i < n; ++i) {
        re[i] = pairs[2 * i];
        im[i] = pairs[2 * i + 1];
    }
}

template <class T>
void join(Int n, const T* re, const T* im, T scale, T* pairs) {
#pragma GCC ivdep
    for (Int i = 0; i < n; ++i) {
        pairs[2 * i] = re[i] * scale;
        pairs[2 * i + 1] = im[i] * scale;
    }
}

/// X[k] = (Z[k] + conj Z[h-k]) / 2 - i w^k (Z[k] - conj Z[h-k]) / 2.
template <class T>
void fromHalf(Int half, Int lanes, const T* wRe, const T* wIm, const T* zRe, const T* zIm, T* yRe,
              T* yIm) {
    const auto one = [&](Int k, Int at, Int mirrored) {
        const T evenRe = T(0.5) * (zRe[at] + zRe[mirrored]);
        const T evenIm = T(0.5) * (zIm[at] - zIm[mirrored]);
        const T oddRe = T(0.5) * (zIm[at] + zIm[mirrored]);
        const T oddIm = T(0.5) * (zRe[mirrored] - zRe[at]);
        yRe[at] = evenRe + oddRe * wRe[k] - oddIm * wIm[k];
        yIm[at] = evenIm + oddRe * wIm[k] + oddIm * wRe[k];
    };
    for (Int q = 0; q < lanes; ++q) {
        yRe[q] = zRe[q] + zIm[q];
        yIm[q] = T(0);
        yRe[half * lanes + q] = zRe[q] - zIm[q];
        yIm[half * lanes + q] = T(0);
    }
    if (lanes == 1) {
#pragma GCC ivdep
        for (Int k = 1; k < half; ++k) one(k, k, half - k);
        return;
    }
    for (Int k = 1; k < half; ++k) {
#pragma GCC ivdep
        for (Int q = 0; q < lanes; ++q) one(k, k * lanes + q, (half - k) * lanes + q);
    }
}

/// Z[k] = X[k] + conj X[h-k] + i conj(w^k) (X[k] - conj X[h-k]).
template <class T>
void toHalf(Int half, Int lanes, const T* wRe, const T* wIm, const T* yRe, const T* yIm, T* zRe,
            T* zIm) {
    const auto one = [&](Int k, Int at, Int mirrored) {
        const T sumRe = yRe[at] + yRe[mirrored];
        const T sumIm = yIm[at] - yIm[mirrored];
        const T differenceRe = yRe[at] - yRe[mirrored];
        const T differenceIm = yIm[at] + yIm[mirrored];
        const T oddRe = differenceRe * wRe[k] + differenceIm * wIm[k];
        const T oddIm = differenceIm * wRe[k] - differenceRe * wIm[k];
        zRe[at] = sumRe - oddIm;
        zIm[at] = sumIm + oddRe;
    };
    for (Int q = 0; q < lanes; ++q) {
        zRe[q] = yRe[q] + yRe[half * lanes + q];
        zIm[q] = yRe[q] - yRe[half * lanes + q];
    }
    if (lanes == 1) {
#pragma GCC ivdep
        for (Int k = 1; k < half; ++k) one(k, k, half - k);
        return;
    }
    for (Int k = 1; k < half; ++k) {
#pragma GCC ivdep
        for (Int q = 0; q < lanes; ++q) one(k, k * lanes + q, (half - k) * lanes + q);
    }
}

template <class T>
constexpr FftLoops<T> loopsOf() {
    return {pass<T>, split<T>, join<T>, fromHalf<T>, toHalf<T>};
}

}  // namespace

extern constexpr FftTable kFftTable{loopsOf<float>(), loopsOf<double>()};

}  // namespace tapescope::engine::cpu::TAPESCOPE_ISA
