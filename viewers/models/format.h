// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

#include <cstdint>

/// Numbers as the window shows them: three significant digits with a unit; `exact…` for the hover.
/// Always '.' as decimal point, a no-break space before the unit. Qt Core only.
namespace tapescope::viewers::format {

/// "0.0312", "12.4", "1.23e-07", "NaN", "∞", "−∞".
QString number(double value);
/// As many digits as are needed to read the same value back.
QString exactNumber(double value);

/// "870 ns", "12.4 ms", "3.2 min"; negative durations keep their sign.
QString duration(double ns);
/// "12 431 207 ns"
QString exactDuration(std::int64_t ns);
/// Axis text for a tick at `ns` where ticks are `tickNs` apart: as many digits as the distance
/// needs. "1.250 ms"
QString durationTick(double ns, double tickNs);

/// Decimal units: "183 MB" = 183 000 000 bytes.
QString bytes(double sizeBytes);
/// "183 023 616 B"
QString exactBytes(std::int64_t sizeBytes);

/// "950", "1.23 k", "4.5 M"
QString count(double value);
/// "1 234 567"
QString exactCount(std::int64_t value);

/// "12.4 GFLOP/s"; "–" if it took no time.
QString flopRate(double flops, double durationNs);
/// "1.2 GFLOP"
QString flops(double flops);
/// "12.3 %"
QString percent(double fraction);
/// Local date and time of Unix seconds, "2026-08-30 14:05:09".
QString wallTime(double unixSeconds);

}  // namespace tapescope::viewers::format
