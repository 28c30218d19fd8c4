// Measured rows for tests: written to a file, read back, mapped to design points of the catalogue.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "requests/validate/measured_rows_reader.h"
#include "requests/validate/serving_parts.h"
#include "source_folder.h"
#include "validation/serving/points.h"

namespace treeline::validation {

inline const ServingParts& parts() {
    static const ServingParts all = [] {
        std::vector<std::string> notes;
        return requests::read_serving_parts(requests::catalogue_in(testing::source_folder(), "test"), {}, notes);
    }();
    return all;
}

/// A file of this process: tests of several files run side by side.
inline std::filesystem::path written(const std::string& name, const std::string& text) {
    const std::filesystem::path folder =
        std::filesystem::temp_directory_path() / ("treeline-rows-" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder);
    const std::filesystem::path path = folder / ("treeline-" + name);
    std::ofstream(path) << text;
    return path;
}

inline const std::string serving_header = "id,backend,model,system,precision,isl,osl,batch_size,tp,ttft_ms,tpot_ms\n";

inline MeasuredPoints points_in(const std::string& csv) {
    std::vector<std::string> notes;
    return points_of(requests::read_serving_rows(written("rows.csv", csv), notes), parts());
}

inline std::string speculation(const std::string& more) {
    return R"([{"id": "a", "series": "s", "engine": "vllm", "target_model": "Llama-3.1-8B-Instruct", "drafter_type": "eagle3",
               "gpu": "H100 80GB", "metric": "tpot_ms", "is_pair": true, "concurrency_kind": "concurrency")" +
           more + "}]";
}

inline MeasuredPoints speculative_points_in(const std::string& more) {
    std::vector<std::string> notes;
    return points_of(requests::read_speculation_rows(written("rows.json", speculation(more)), notes), parts());
}

/// One row, every field but the metric's stated here.
inline MeasuredPoints row_of(const std::string& fields) {
    std::vector<std::string> notes;
    const std::string text =
        R"([{"id": "a", "is_pair": true, "metric": "tpot_ms", "speedup": 1.5, "batch_or_concurrency": 4,)" +
        std::string(R"("concurrency_kind": "concurrency", )") + fields + "}]";
    return points_of(requests::read_speculation_rows(written("row.json", text), notes), parts());
}

}  // namespace treeline::validation
