// What study.cpp is made of.
#pragma once

#include "validation/serving/predict.h"
#include "validation/serving/study.h"

namespace treeline::validation {

/// A table of speed-ups before it is summarised, and the series of each of its rows.
struct SpeculativeTable {
    ErrorTable table;
    std::vector<std::string> series;
    bool fitted = false;  ///< accept lengths were fitted at the smallest batch
};

/// Both tables of the speculative points: with the accept length given, and fitted.
std::vector<SpeculativeTable> speculative_tables(const ServingStudy& study);

}  // namespace treeline::validation
