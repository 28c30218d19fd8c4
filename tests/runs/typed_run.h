// Runs that people type, as tests of their forms read them. In a namespace of its own, since other tests have words like these.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <tuple>
#include <vector>

#include <fmt/format.h>

#include "runs/run.h"
#include "text/input_error.h"

namespace treeline::testing::typed {

inline runs::MeasuredRun read(const std::string& text, int draft_tokens = -1) {
    runs::RunHints hints;
    hints.draft_tokens = draft_tokens;
    return runs::import_run_text(text, "typed.md", hints);
}

inline std::string refusal(const std::string& text, int draft_tokens = -1) {
    try {
        static_cast<void>(read(text, draft_tokens));
    } catch (const text::InputError& error) {
        return error.what();
    }
    return "";
}

/// "batch/drafts/context: microseconds per token" of each cell, by drafts, context and batch.
inline std::string cells_of(const runs::MeasuredRun& run) {
    std::vector<std::tuple<int, int, int, int>> cells;
    for (const runs::RunCell& cell : run.cells) {
        cells.emplace_back(cell.draft_tokens, std::lround(cell.context), std::lround(cell.batch),
                           std::lround(cell.tpot_seconds() * 1e6));
    }
    std::sort(cells.begin(), cells.end());
    std::string text;
    for (const auto& [drafts, context, batch, time] : cells) {
        text += fmt::format("{}{}/{}/{}: {}", text.empty() ? "" : ", ", batch, drafts, context, time);
    }
    return text;
}

inline std::string remarks_of(const runs::MeasuredRun& run) {
    std::string all;
    for (const std::string& remark : run.remarks) {
        all += remark + "\n";
    }
    return all;
}

inline bool says(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace treeline::testing::typed
