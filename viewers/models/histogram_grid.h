// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "storage/tape/records.h"

#include <vector>

namespace tapescope::viewers {

/// Puts the counts of a histogram into `rows` equal bins of [low, high], by overlap: a bin that
/// covers half of a row gives it half of its count. What lies outside is left out. Returns density
/// (count per unit of value), or zeros for an empty histogram.
std::vector<double> rebin(const storage::Histogram& histogram, double low, double high, int rows);

struct ValueRange {
    double low = 0;
    double high = 1;
};
/// Smallest range of bin edges that holds all but `tail` of the mass on each side, over all
/// histograms given.
ValueRange massRange(const std::vector<const storage::Histogram*>& histograms, double tail);

}  // namespace tapescope::viewers
