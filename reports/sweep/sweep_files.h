// The files that a sweep fills with every point as it runs.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "reports/sweep/sweep_summary.h"
#include "text/output_file.h"

namespace treeline::reports {

class SweepFiles {
public:
    /// An empty name means no such file; "-" is standard output. `spreadsheet`: see text::for_spreadsheet().
    SweepFiles(const std::string& csv, const std::string& json, const sweeps::SweepInput& input, bool spreadsheet = false);

    [[nodiscard]] bool any() const { return csv_ || json_; }
    /// What a chunk adds to the files, in one text; may run on any thread.
    [[nodiscard]] std::string format(const sweeps::SweepChunk& chunk) const;
    /// Adds such a text; in the order of the chunks.
    void write(std::string_view packed);
    void finish(const sweeps::SweepAnswer& answer);

private:
    std::optional<text::OutputFile> csv_, json_;
    bool first_ = true, spreadsheet_ = false;
};

}  // namespace treeline::reports
