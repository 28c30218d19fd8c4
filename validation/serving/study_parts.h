// What study.cpp is made of.
#pragma once

#include "validation/serving/predict.h"
#include "validation/serving/study.h"

namespace treeline::validation {

/// A table of speed-ups before it is summarised, and the series of each of its rows.
struct SpeculativeTable {
    ErrorTable table;
    std::vector<std::string> series;
    std::vector<std::size_t> anchors;  ///< points at which accept lengths were fitted
};

/// Both tables of the speculative points: with the accept length given, and fitted.
std::vector<SpeculativeTable> speculative_tables(const ServingStudy& study);

/// Points of which neither table says anything, with the reason.
std::vector<LeftOutPoint> unscored(const ServingStudy& study, const std::vector<SpeculativeTable>& tables);

}  // namespace treeline::validation
