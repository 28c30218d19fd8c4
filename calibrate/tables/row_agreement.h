// Whether rows of measured tables contradict each other: a law can follow one of them alone.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "calibrate/tables/measured_rows.h"
#include "calibrate/tables/table_rows.h"

namespace treeline::calibrate {

class RowAgreement {
public:
    /// Notes a sentence with file and row where this row and an earlier one are the same measurement and disagree: equal
    /// columns with times more than `repeated` apart, or one law and one shape by another framework or kernel, more than
    /// `one_law` apart. All-reduces of one size may come in several number formats, of which the faster counts: `one_law` holds
    /// for them. Other rows of one shape may scatter (a mixture's routing): fits are robust.
    void check(const MeasuredRow& row, const ConvertedRow& converted, std::vector<std::string>& problems);

private:
    /// Kernel tables of aiconfigurator repeat rows within 1.25, and SGLang's and vLLM's scans of one shape differ by up to 2.5.
    static constexpr double repeated = 1.5, one_law = 3.0;

    std::map<std::string, const MeasuredRow*> by_columns_, by_shape_;
};

}  // namespace treeline::calibrate
