// Laws of a measured device's kernels on one that nobody measured.
#pragma once

#include "sim/device.h"

namespace treeline::sim {

/// The laws of `measured`, which has a calibration, as they are expected to hold on `other`:
///   - shares of bandwidth, peaks and links stay shares, now of the other data sheet;
///   - launches and startups stay times; so do costs of each head or activation, but more multiprocessors share them;
///   - of linear layers that were seen to compute tiles of one size only, tiles are smaller and follow the rows; no tile
///     depends on the other device's rates, so that more compute is never slower;
///   - tiles are divided among the other device's multiprocessors, and startups grow over traffic in proportion to its cache;
///   - laws of kernels that no engine would pick, slower than the same class in a wider format, are left out: they belong to
///     one release of one engine, and the wider format's law stands in;
///   - laws of latent attention are left out: its kernels are written for one architecture;
///   - verification over recurrent states carries over as it is; a walk along a cache at the same efficiency of a
///     multiprocessor;
///   - all-reduces carry over only where the fastest link of both is of one kind, and not over PCIe.
/// `kind` of the result is "derived". tests/validation/kernel_times.cpp measures what this misses, with devices left out.
Calibration transferred_laws(const Device& measured, const Device& other);

}  // namespace treeline::sim
