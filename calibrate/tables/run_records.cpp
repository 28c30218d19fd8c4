#include "calibrate/tables/run_records.h"

#include <fstream>

#include <fmt/format.h>

#include "text/csv.h"
#include "text/input_error.h"
#include "text/input_file.h"
#include "text/output_file.h"
#include "text/parse_number.h"

namespace treeline::calibrate {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view conditions_ending = "_conditions.csv", missing_ending = "_missing.csv",
                           machine_ending = "_machine.csv";

fs::path record_of(const fs::path& folder, const Machine& machine, std::string_view ending) {
    return folder / (machine.name + std::string(ending));
}

/// As a field of a CSV line.
std::string quoted(const std::string& text) {
    std::string result = "\"";
    for (const char c : text) {
        result += c == '"' ? "\"\"" : std::string(1, c);
    }
    return result + "\"";
}

Machine machine_in(const fs::path& file) {
    const std::string text = text::read_file(file);
    text::CsvReader rows(text);
    Machine machine;
    std::vector<std::string> wrong;
    const bool has_row = rows.next() && rows.problem().empty();
    const auto field = [&](const char* name) {
        const std::optional<std::size_t> column = has_row ? rows.column(name) : std::nullopt;
        if (!column) {
            wrong.push_back(fmt::format("{}: has no {}", file.string(), name));
        }
        return column ? rows.fields()[*column] : std::string();
    };
    const auto number = [&](const char* name) { return text::parse_number(field(name)).value_or(0.0); };
    machine.name = field("name");
    machine.title = field("title");
    machine.driver = field("driver");
    machine.is_gpu = field("kind") == "gpu";
    machine.cores = static_cast<int>(number("cores"));
    machine.memory_bytes = number("memory_bytes");
    machine.cache_bytes = number("cache_bytes");
    machine.multiprocessors = static_cast<int>(number("multiprocessors"));
    if (!wrong.empty()) {
        throw text::InputError(std::move(wrong));
    }
    return machine;
}

}  // namespace

bool is_record_of_run(std::string_view file_name) {
    return file_name.ends_with(conditions_ending) || file_name.ends_with(missing_ending) || file_name.ends_with(machine_ending);
}

void write_machine(const fs::path& folder, const Machine& machine) {
    text::write_file(record_of(folder, machine, machine_ending),
                     fmt::format("# The machine that the tables beside this were measured on\n"
                                 "name,title,driver,kind,cores,memory_bytes,cache_bytes,multiprocessors\n"
                                 "{},{},{},{},{},{:.0f},{:.0f},{}\n",
                                 machine.name, quoted(machine.title), quoted(machine.driver), machine.is_gpu ? "gpu" : "cpu",
                                 machine.cores, machine.memory_bytes, machine.cache_bytes, machine.multiprocessors),
                     text::Replaces::own_input);
}

std::optional<Machine> read_machine(const fs::path& folder) {
    std::vector<fs::path> found;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
        if (entry.path().filename().string().ends_with(machine_ending)) {
            found.push_back(entry.path());
        }
    }
    if (found.size() > 1) {
        throw text::InputError({fmt::format("{}: holds measurements of several machines", folder.string())});
    }
    return found.empty() ? std::nullopt : std::optional(machine_in(found.front()));
}

void write_conditions(const fs::path& folder, const Machine& machine, const ProtocolRun& run, const std::string& limits) {
    const fs::path path = record_of(folder, machine, conditions_ending);
    const bool fresh = !fs::exists(path);
    std::ofstream out(path, std::ios::binary | std::ios::app);
    if (fresh) {
        out << fmt::format(
            "# The state of {} at the beginning of each pass over the measurements, run after run\n"
            "# at_s: since the run began; visits: of kernels and decoders in the pass; read_us: a block of main memory read;\n"
            "# launch_us: an empty launch (0: not measured); clock_mhz, power_w: 0 if unknown; temperature_c: empty if "
            "unknown;\n"
            "# throttles: 1 if power or heat held the clock down; load: per core, over the last minute; typical: 1 in the "
            "state\n"
            "# that the measurements are of\n"
            "at_s,visits,read_us,launch_us,clock_mhz,temperature_c,power_w,throttles,load,typical\n",
            machine.title);
    }
    if (!limits.empty()) {
        out << "# " << limits << "\n";
    }
    for (const PassRecord& pass : run.passes) {
        const Conditions& seen = pass.conditions;
        out << fmt::format("{:.1f},{},{:.5g},{:.4g},{:.5g},{},{:.4g},{},{:.2f},{}\n", pass.at, pass.visits, 1e6 * seen.read,
                           1e6 * seen.launch, 1e-6 * seen.clock,
                           seen.temperature ? fmt::format("{:.0f}", *seen.temperature) : "", seen.power, seen.throttles ? 1 : 0,
                           seen.load, is_of_state(seen, run.typical, {}) ? 1 : 0);
    }
    if (!out.flush()) {
        throw text::OutputError(fmt::format("{}: cannot be written", path.string()));
    }
}

void write_missing(const fs::path& folder, const Machine& machine, const std::vector<MissingCase>& missing) {
    std::string text =
        "# Cases that were to be measured and are in no table; fatal: 1 where the device did not work any more afterwards, so\n"
        "# that later runs leave the case out\n"
        "case,reason,fatal\n";
    for (const MissingCase& each : missing) {
        text += fmt::format("{},{},{}\n", quoted(each.name), quoted(each.reason), each.is_fatal ? 1 : 0);
    }
    text::write_file(record_of(folder, machine, missing_ending), text, text::Replaces::own_input);
}

std::vector<MissingCase> read_missing(const fs::path& folder, const Machine& machine) {
    const fs::path file = record_of(folder, machine, missing_ending);
    std::vector<MissingCase> missing;
    if (fs::exists(file)) {
        const std::string text = text::read_file(file);
        for (text::CsvReader rows(text); rows.next();) {
            if (rows.problem().empty() && rows.fields().size() == 3) {
                missing.push_back({rows.fields()[0], rows.fields()[1], rows.fields()[2] == "1"});
            }
        }
    }
    return missing;
}

}  // namespace treeline::calibrate
