#include "reports/sweep/sweep_files.h"

#include <cstring>
#include <utility>

#include "reports/sweep/sweep_output.h"
#include "text/table.h"

namespace treeline::reports {
namespace {

/// What one chunk adds to the CSV and to the JSON, packed into the one text that the sweep hands over in order.
struct ChunkText {
    std::string csv, json;

    [[nodiscard]] std::string packed() const {
        const std::uint64_t length = csv.size();
        std::string text(sizeof length, '\0');
        std::memcpy(text.data(), &length, sizeof length);
        return text + csv + json;
    }
    static std::pair<std::string_view, std::string_view> unpacked(std::string_view text) {
        std::uint64_t length = 0;
        std::memcpy(&length, text.data(), sizeof length);
        text.remove_prefix(sizeof length);
        return {text.substr(0, length), text.substr(length)};
    }
};

}  // namespace

SweepFiles::SweepFiles(const std::string& csv, const std::string& json, const sweeps::SweepInput& input, bool spreadsheet)
    : spreadsheet_(spreadsheet) {
    if (!csv.empty()) {
        csv_.emplace(csv);
        csv_->write(sweep_csv_header());
    }
    if (!json.empty()) {
        json_.emplace(json);
        json_->write(sweep_json_head(input));
    }
}

std::string SweepFiles::format(const sweeps::SweepChunk& chunk) const {
    ChunkText text;
    if (csv_) {
        append_csv(chunk, text.csv);
        if (spreadsheet_) {
            text.csv = text::for_spreadsheet(text.csv);
        }
    }
    if (json_) {
        append_json(chunk, text.json);
    }
    return text.packed();
}

void SweepFiles::write(std::string_view packed) {
    auto [csv, json] = ChunkText::unpacked(packed);
    if (csv_) {
        csv_->write(csv);
    }
    if (json_ && !json.empty()) {
        if (first_) {
            json.remove_prefix(std::string_view(",\n").size());
            first_ = false;
        }
        json_->write(json);
    }
}

void SweepFiles::finish(const sweeps::SweepAnswer& answer) {
    if (json_) {
        json_->write(sweep_json_tail(answer));
    }
    for (std::optional<text::OutputFile>* file : {&csv_, &json_}) {
        if (*file) {
            (*file)->commit();
        }
    }
}

}  // namespace treeline::reports
