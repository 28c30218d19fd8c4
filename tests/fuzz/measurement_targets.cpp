#include <array>
#include <stdexcept>

#include <nlohmann/json.hpp>

#include "calibrate/serving_rows.h"
#include "calibrate/tables/measured_rows.h"
#include "calibrate/timings/timing_reader.h"
#include "requests/acceptance/acceptance_file.h"
#include "requests/validate/experiment_reader.h"
#include "requests/validate/measured_rows_reader.h"
#include "runs/own_file.h"
#include "runs/run.h"
#include "store/store.h"
#include "targets.h"
#include "text/output_file.h"

namespace treeline::fuzz {
namespace {

/// What is imported can be written and read again.
void read_run(std::string_view bytes) {
    const runs::MeasuredRun run = runs::import_run_text(std::string(bytes), "run", {});
    static_cast<void>(runs::import_run_text(runs::run_json(run).dump(2), "again", {}));
}

void read_acceptance(std::string_view bytes) {
    static_cast<void>(requests::acceptance_file_of(std::string(bytes), "acceptance"));
}

void read_kernels(std::string_view bytes) {
    static_cast<void>(calibrate::parse_measured_rows(std::string(bytes), "kernels.csv"));
    static_cast<void>(calibrate::parse_measured_rows(std::string(bytes), "kernels.json"));
}

void read_timings(std::string_view bytes) {
    const bool is_json = !bytes.empty() && (bytes.front() == '{' || bytes.front() == '[');
    static_cast<void>(calibrate::read_timings(as_file(bytes, is_json ? "timings.json" : "timings.csv")));
}

void read_serving(std::string_view bytes) { static_cast<void>(calibrate::read_serving_csv(as_file(bytes, "serving.csv"))); }

void read_serving_rows(std::string_view bytes) {
    std::vector<std::string> notes, bad_rows;
    static_cast<void>(requests::read_serving_rows(as_file(bytes, "rows.csv"), notes, &bad_rows));
}

void read_speculation_rows(std::string_view bytes) {
    std::vector<std::string> notes, bad_rows;
    static_cast<void>(requests::read_speculation_rows(as_file(bytes, "rows.json"), notes, &bad_rows));
}

void read_experiments(std::string_view bytes) {
    static_cast<void>(requests::read_experiments({as_file(bytes, "experiments.json")}, catalogue()));
}

void read_store(std::string_view bytes) {
    try {
        store::Store store(as_file(bytes, "store.db"), store::Access::read);
        for (const store::StoredRun& run : store.runs()) {
            std::vector<store::Row> rows;
            static_cast<void>(store.rows(run.id, rows));
        }
    } catch (const text::OutputError&) {
        // A damaged file that SQLite takes for one that it must recover first, which reading alone cannot.
    }
}

}  // namespace

std::span<const Target> measurement_targets() {
    static constexpr std::array<Target, 9> all = {{{"run", read_run},
                                                   {"acceptance", read_acceptance},
                                                   {"kernels", read_kernels},
                                                   {"timings", read_timings},
                                                   {"serving", read_serving},
                                                   {"serving_rows", read_serving_rows},
                                                   {"speculation_rows", read_speculation_rows},
                                                   {"experiments", read_experiments},
                                                   {"store", read_store}}};
    return all;
}

}  // namespace treeline::fuzz
