// A file in any format, told apart by its content: JSON documents and lines by their keys, tables by their header, and lines of
// text by each kind of log.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

#include <fmt/format.h>

#include "json/parse.h"
#include "json/wording.h"
#include "json/yaml.h"
#include "runs/builder.h"
#include "runs/formats/html_rows.h"
#include "runs/log_lines.h"
#include "runs/log_sections.h"
#include "text/csv.h"
#include "text/file_roles.h"
#include "text/input_error.h"
#include "text/plain_text.h"

namespace treeline::runs {
namespace {

/// A document that is one JSON value is held in memory; logs and JSON lines are not.
constexpr std::size_t longest_document = 512u << 20;
constexpr std::size_t longest_line = 64u << 20;
constexpr std::size_t longest_run_table = 16u << 20;

/// One line, without its end. `complete` is false for a last line that no line feed ends. False at the end of the stream.
bool next_line(std::istream& in, const std::string& file, std::string& line, bool& complete) {
    line.clear();
    std::streambuf* buffer = in.rdbuf();
    for (int c = buffer->sbumpc(); c != std::char_traits<char>::eof(); c = buffer->sbumpc()) {
        if (c == '\n') {
            if (!line.empty() && line.back() == '\r') {
                line.pop_back();
            }
            complete = true;
            return true;
        }
        line.push_back(static_cast<char>(c));
        if (line.size() > longest_line) {
            throw text::InputError({fmt::format("{}: holds a line of more than 64 MiB, which no log has", file)});
        }
    }
    complete = false;
    return !line.empty();
}

/// The JSON format of a value; null if there is none.
const JsonFormat* format_of(const RunJson& json) {
    if (!json.is_object()) {
        return nullptr;
    }
    const auto& formats = json_formats();
    const auto found = std::find_if(formats.begin(), formats.end(), [&](const JsonFormat& format) { return format.is(json); });
    return found == formats.end() ? nullptr : &*found;
}

/// The list of records that an object of no format wraps ({"results": [...]}); null where it holds none or several.
const RunJson* wrapped_records(const RunJson& json) {
    if (!json.is_object()) {
        return nullptr;
    }
    const RunJson* found = nullptr;
    for (const RunJson& value : json) {
        if (value.is_array() && !value.empty() && format_of(value.front()) != nullptr) {
            if (found != nullptr) {
                return nullptr;
            }
            found = &value;
        }
    }
    return found;
}

/// The only object of a format that an object of none wraps ({"data": {...}}); null where it holds none or several.
const RunJson* wrapped_object(const RunJson& json) {
    if (!json.is_object()) {
        return nullptr;
    }
    const RunJson* found = nullptr;
    for (const RunJson& value : json) {
        if (format_of(value) != nullptr) {
            if (found != nullptr) {
                return nullptr;
            }
            found = &value;
        }
    }
    return found;
}

/// What is of no format is left out, with a remark if something else is read.
void take_value(const RunJson& json, RunBuilder& run, long& left_out) {
    if (const JsonFormat* format = format_of(json)) {
        run.format(format->name);
        format->read(json, run);
    } else if (const RunJson* records = wrapped_records(json)) {
        for (const RunJson& record : *records) {
            take_value(record, run, left_out);
        }
    } else if (const RunJson* object = wrapped_object(json)) {
        take_value(*object, run, left_out);
    } else {
        ++left_out;
    }
}

/// A value, or each element of a list of them.
void take_json(const RunJson& json, RunBuilder& run, long& left_out) {
    if (!json.is_array()) {
        return take_value(json, run, left_out);
    }
    for (const RunJson& element : json) {
        take_value(element, run, left_out);
    }
}

[[noreturn]] void not_json(const std::string& file, long line, bool at_end) {
    throw text::InputError(
        {at_end ? fmt::format("{}: ends in the middle of its JSON (line {}); it seems to be cut off", file, line)
                : fmt::format("{}: line {} is not JSON", file, line)});
}

void refuse_deep(const std::string& text, const std::string& file) {
    if (json::nests_too_deep(text)) {
        throw text::InputError({fmt::format("{}: {}", file, json::too_deep_text())});
    }
}

/// Nothing where the text is not JSON. Throws out_of_range for a number beyond 1e308.
std::optional<RunJson> parsed(const std::string& text, const std::string& file) {
    refuse_deep(text, file);
    try {
        return RunJson::parse(text);
    } catch (const RunJson::parse_error&) {
        return std::nullopt;
    }
}

/// JSON on a line of a text, or an object over several of them, which begins and ends with a line of its own ("| jq .timings").
class JsonLines : public LineReader {
public:
    bool take(std::string_view line, RunBuilder& run) override {
        if (read(json_of_line(line), run)) {
            object_.clear();
            open_ = 0;
            return true;
        }
        if (open_ > 0 || opens_object(line)) {
            collect(line, run);
        }
        return false;
    }
    void finish(RunBuilder&) override {}

private:
    static bool read(std::string_view text, RunBuilder& run) {
        const std::optional<RunJson> json = text.empty() ? std::nullopt : parsed(std::string(text), run.file());
        const JsonFormat* format = json ? format_of(*json) : nullptr;
        if (format == nullptr) {
            return false;
        }
        run.format(format->name);
        format->read(*json, run);
        return true;
    }

    static bool opens_object(std::string_view line) {
        const std::size_t first = line.find_first_not_of(" \t");
        return first != std::string_view::npos && line[first] == '{' && opened_braces(line) > 0;
    }

    void collect(std::string_view line, RunBuilder& run) {
        constexpr std::size_t longest_object = 1u << 16;
        open_ += opened_braces(line);
        object_ += std::string(line) + "\n";
        if (open_ > 0 && object_.size() < longest_object) {
            return;
        }
        read(object_.substr(0, object_.rfind('}') + 1), run);
        object_.clear();
        open_ = 0;
    }

    std::string object_;  ///< its lines so far
    long open_ = 0;       ///< its braces that are open
};

void left_out_remark(RunBuilder& run, long left_out) {
    if (left_out > 0) {
        run.at_line(0);
        run.remark(fmt::format("{}: {} records in formats that are not read were left out.", run.file(), left_out));
    }
}

/// One value a line, from the first line, which is parsed already, on.
void read_json_lines(std::istream& in, const RunJson& first, RunBuilder& run) {
    long number = 1, left_out = 0;
    run.at_line(1);
    take_json(first, run, left_out);
    std::string line;
    bool complete = true;
    while (!run.broken() && next_line(in, run.file(), line, complete)) {
        ++number;
        if (line.find_first_not_of(" \t") == std::string::npos) {
            continue;
        }
        run.at_line(number);
        if (const std::optional<RunJson> json = parsed(line, run.file())) {
            take_json(*json, run, left_out);
        } else {
            run.problem(complete ? "is not JSON" : "ends in the middle of its JSON; it seems to be cut off");
        }
    }
    left_out_remark(run, left_out);
}

void read_document(std::istream& in, std::string text, RunBuilder& run) {
    std::string line;
    bool complete = true;
    while (next_line(in, run.file(), line, complete)) {
        text += "\n" + line;
        if (text.size() > longest_document) {
            throw text::InputError(
                {fmt::format("{}: is one JSON document of more than 512 MiB; write it as JSON lines", run.file())});
        }
    }
    refuse_deep(text, run.file());
    try {
        long left_out = 0;
        take_json(RunJson::parse(text), run, left_out);
        left_out_remark(run, left_out);
    } catch (const RunJson::parse_error& error) {
        const auto end = text.begin() + static_cast<std::ptrdiff_t>(std::min(error.byte, text.size()));
        not_json(run.file(), 1 + std::count(text.begin(), end, '\n'), error.byte >= text.size());
    }
}

void read_table(std::istream& in, std::string text, const TableFormat& format, RunBuilder& run) {
    std::string line;
    bool complete = true;
    text += "\n";
    while (next_line(in, run.file(), line, complete)) {
        text += line + "\n";
        if (text.size() > longest_run_table) {
            throw text::InputError({run.file() + ": is a table of more than 16 MiB"});
        }
    }
    run.format(format.name);
    format.read(text, run);
}

/// What a process wrote, in a record that a collector of logs made of it: Docker's "log", journald's "MESSAGE", Loki's "line",
/// "message" and "msg" of others, Google's "textPayload". Nothing where the line is no such record.
std::optional<std::string> recorded_line(const std::string& line, const std::string& file) {
    const std::optional<RunJson> json = line.starts_with('{') ? parsed(line, file) : std::nullopt;
    if (!json || !json->is_object() || format_of(*json) != nullptr) {
        return std::nullopt;
    }
    for (const char* key : {"log", "MESSAGE", "message", "msg", "line", "textPayload"}) {
        const auto found = json->find(key);
        if (found != json->end() && found->is_string()) {
            std::string text = found->get<std::string>();
            while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) {
                text.pop_back();
            }
            return text;
        }
    }
    return std::nullopt;
}

/// Whether a file is a program by its name, or its first line of code says so to a shell. What stands in it was not measured by
/// it.
bool is_script(std::string_view file, std::string_view line) {
    const auto ends = [&](std::string_view ending) { return file.ends_with(ending); };
    const auto begins = [&](std::string_view beginning) { return line.starts_with(beginning); };
    static constexpr std::array endings = {".sh", ".bash", ".zsh", ".fish", ".ps1", ".bat", ".py"};
    static constexpr std::array beginnings = {"#!", "#compdef", "set -e", "set -u", "set -x", "set -o "};
    return std::any_of(endings.begin(), endings.end(), ends) || std::any_of(beginnings.begin(), beginnings.end(), begins);
}

/// Throws for a script; lines of comment may stand before its first line of code.
class ScriptGuard {
public:
    void judge(const std::string& file, std::string_view line) {
        if (!begun_ && is_script(file, line)) {
            throw text::InputError({file + ": is a script, which measures nothing itself; give what it printed (treeline lint "
                                           "checks the settings in it)"});
        }
        begun_ = begun_ || !(line.empty() || line.starts_with('#'));
    }

private:
    bool begun_ = false;
};

using LineReaders = std::vector<std::unique_ptr<LineReader>>;

/// The reader that takes the line; null if none does.
const LineReader* offer(std::string_view line, const LineReaders& readers, RunBuilder& run) {
    const auto taker =
        std::find_if(readers.begin(), readers.end(), [&](const auto& reader) { return reader->take(line, run); });
    return taker == readers.end() ? nullptr : taker->get();
}

/// Whether a last line, which no line feed ends, says by its own form that it is cut off: JSON that is open, a row between bars
/// that lacks its last one, or a line of an engine's log or of metrics, which can be told by itself, that does not parse or
/// whose last number may lack digits.
bool is_cut_off(std::string_view line, const RunBuilder& run) {
    const std::size_t first = line.find_first_not_of(" \t"), last = line.find_last_not_of(" \t\r");
    if (first == std::string_view::npos) {
        return false;
    }
    if (opened_braces(line) > 0 || (line[first] == '|' && (line[last] != '|' || first == last))) {
        return true;
    }
    RunBuilder trial = run;
    const bool told = offer(line, line_readers(), trial) != nullptr;
    return told && (trial.bad_records() > run.bad_records() || std::string_view("0123456789.").find(line[last]) != line.npos);
}

/// The last line, which no line feed ends. Where it is cut off nothing of it is kept, which is said.
void take_open_line(std::string_view line, const LineReaders& readers, RunBuilder& run) {
    if (line.empty() || line.front() == '#') {
        return;
    }
    const RunBuilder before = run;
    bool cut = is_cut_off(line, run);
    if (!cut) {
        run.line_is_open(true);
        offer(line, readers, run);
        cut = run.has_line_broken_off();
        run.line_is_open(false);
    }
    if (cut) {
        run = before;
        run.remark(run.file() + ": its last line is not complete and was left out.");
    }
}

/// `recorded`: each line is a record of a collector (recorded_line).
void read_log(std::istream& in, std::string line, bool complete, bool recorded, RunBuilder& run) {
    const LineReaders readers = line_readers();
    run_formats_of::HtmlRows rows;
    LogSections sections;
    ScriptGuard guard;
    long number = 0;
    do {
        run.at_line(++number);
        guard.judge(run.file(), line);
        const std::optional<std::string> record = recorded ? recorded_line(line, run.file()) : std::nullopt;
        if (!complete && recorded && !record) {
            take_open_line(line, readers, run);
            break;
        }
        const std::optional<std::string> whole = rows.take(text::as_utf8(recorded ? record.value_or("") : line));
        if (!whole) {
            continue;
        }
        line = *whole;
        if (sections.leaves_out(line, run)) {
            continue;
        }
        if (!complete && !recorded) {
            take_open_line(line, readers, run);
        } else {
            offer(line, readers, run);
        }
    } while (!run.broken() && next_line(in, run.file(), line, complete));
    for (const std::unique_ptr<LineReader>& reader : readers) {
        reader->finish(run);
    }
}

/// The rest of a stream in UTF-16, as PowerShell redirects what a program prints, in UTF-8.
std::string text_of_utf16(std::istream& in, const std::string& file) {
    std::string bytes(std::istreambuf_iterator<char>(in), {});
    if (bytes.size() > longest_document) {
        throw text::InputError({file + ": is in UTF-16 and larger than 512 MiB; write it in UTF-8"});
    }
    return text::utf8_of_utf16(bytes);
}

/// Everything that a stream in UTF-8 holds.
void read_stream(std::istream& in, const std::string& file, RunBuilder& run) {
    std::string line;
    bool complete = true, any = false;
    while ((any = next_line(in, file, line, complete)) && line.find_first_not_of(" \t\xEF\xBB\xBF") == std::string::npos) {}
    if (!any) {
        throw text::InputError({file + ": is empty"});
    }
    if (line.starts_with("\xEF\xBB\xBF")) {
        line.erase(0, 3);
    }
    try {
        if (starts_as_json(line)) {
            if (recorded_line(line, file)) {
                read_log(in, line, complete, true, run);
            } else if (std::optional<RunJson> json = parsed(line, file)) {
                read_json_lines(in, *json, run);
            } else {
                read_document(in, line, run);
            }
            return;
        }
        text::CsvReader table(line);
        for (const TableFormat& format : table_formats()) {
            if (format.is(table.header())) {
                return read_table(in, line, format, run);
            }
        }
        read_log(in, line, complete, false, run);
    } catch (const RunJson::out_of_range&) {
        throw text::InputError({file + ": holds a number beyond 1e308, which nothing measured can be"});
    }
}

MeasuredRun import_stream(std::istream& in, const std::string& file, const RunHints& hints) {
    if (in.peek() == 0xFF || in.peek() == 0xFE) {  // a mark of byte order, which no UTF-8 begins with
        std::istringstream text(text_of_utf16(in, file));
        return import_stream(text, file, hints);
    }
    const std::istream::pos_type begin = in.tellg();
    RunBuilder run(file, hints);
    read_stream(in, file, run);
    const int stated = run.drafts_stated_below();
    in.clear();
    if (stated <= 0 || begin == std::istream::pos_type(-1) || !in.seekg(begin)) {
        return run.take();
    }
    RunHints told = hints;
    told.draft_tokens = stated;
    RunBuilder again(file, told);
    again.remark(fmt::format("{}: nothing above them says how many tokens loads draft; the {} of a line below were taken", file,
                             stated));
    read_stream(in, file, again);
    return again.take();
}

bool is_yaml(const std::string& file) { return file.ends_with(".yaml") || file.ends_with(".yml"); }

/// Records in YAML; what is none is read as text, in which a log may be redirected into any name.
MeasuredRun import_yaml(std::istream& in, const std::string& file, const RunHints& hints) {
    const std::string text(std::istreambuf_iterator<char>(in), {});
    constexpr std::size_t longest = 1u << 20;
    const json::ParsedYaml yaml = text.size() <= longest ? json::parse_yaml(text) : json::ParsedYaml{{}, "is too long", {}};
    const bool structured = yaml.failure.empty() && yaml.tree.is_structured();
    std::istringstream document(structured ? yaml.tree.dump() + "\n" : text);
    return import_stream(document, file, hints);
}

}  // namespace

const std::vector<JsonFormat>& json_formats() {
    static const std::vector<JsonFormat> all = [] {
        std::vector<JsonFormat> formats = {run_formats_of::own_file()};
        for (const auto& some : {run_formats_of::sglang(), run_formats_of::vllm(), run_formats_of::tensorrt_llm(),
                                 run_formats_of::llama_cpp(), run_formats_of::clients(), run_formats_of::local_answers()}) {
            formats.insert(formats.end(), some.begin(), some.end());
        }
        return formats;
    }();
    return all;
}

std::unique_ptr<LineReader> run_formats_of::json_lines() { return std::make_unique<JsonLines>(); }

std::vector<std::unique_ptr<LineReader>> line_readers() {
    std::vector<std::unique_ptr<LineReader>> readers;
    readers.push_back(run_formats_of::pasted_commands());
    readers.push_back(run_formats_of::prometheus());
    readers.push_back(run_formats_of::console_report());
    readers.push_back(run_formats_of::vllm_log());
    readers.push_back(run_formats_of::vllm_progress());
    readers.push_back(run_formats_of::sglang_log());
    readers.push_back(run_formats_of::llama_cpp_log());
    readers.push_back(run_formats_of::mlx_log());
    readers.push_back(run_formats_of::local_runners());
    readers.push_back(run_formats_of::engine_steps());
    readers.push_back(run_formats_of::question_reports());
    readers.push_back(run_formats_of::script_reports());
    readers.push_back(run_formats_of::metric_tables());
    readers.push_back(run_formats_of::pipe_tables());
    readers.push_back(run_formats_of::load_tables());
    readers.push_back(run_formats_of::json_lines());
    readers.push_back(run_formats_of::prose_results());
    return readers;
}

std::vector<std::string> run_formats() {
    constexpr const char* printed =
        "what vllm bench serve, SGLang's bench_serving and bench_one_batch, trtllm-bench, aiperf, llama-speculative, mlx_lm, "
        "ollama and TabbyAPI print";
    constexpr const char* tables =
        "tables of llama-bench, llama-batched-bench, llama-sweep-bench, llama-spec-bench, llama-benchy and SGLang's "
        "bench_one_batch_server, of serving benchmarks with a metric in each row, and of a load or a draft length in each row";
    std::vector<std::string> names = {"logs of vLLM, SGLang, llama.cpp and oMLX",
                                      printed,
                                      tables,
                                      "logs of single steps of vLLM and TensorRT-LLM",
                                      "metrics of servers (Prometheus)",
                                      "results in sentences and lists (\"K=2: 220 tok/s, no spec: 140\")"};
    for (const JsonFormat& format : json_formats()) {
        names.emplace_back(format.name);
    }
    for (const TableFormat& format : table_formats()) {
        names.emplace_back(format.name);
    }
    return names;
}

MeasuredRun import_run_text(const std::string& text, const std::string& name, const RunHints& hints) {
    std::istringstream in(text);
    return import_stream(in, name, hints);
}

MeasuredRun import_runs(const std::vector<std::string>& files, const RunHints& hints) {
    std::vector<MeasuredRun> runs;
    std::vector<std::string> problems;
    for (auto file_at = files.begin(); file_at != files.end(); ++file_at) {
        const std::string& file = *file_at;
        if (std::find(files.begin(), file_at, file) != file_at) {
            problems.push_back(fmt::format("{}: is given twice; what it counts would count double", file));
            continue;
        }
        try {
            if (file == "-") {
                runs.push_back(import_stream(std::cin, "standard input", hints));
                continue;
            }
            std::ifstream in(file, std::ios::binary);
            if (!in || in.peek() == std::char_traits<char>::eof()) {
                throw text::InputError(
                    {fmt::format("{}: {}", file, in.is_open() ? "is empty or cannot be read" : "cannot be opened")});
            }
            text::note_input(std::filesystem::path(file));
            runs.push_back(is_yaml(file) ? import_yaml(in, file, hints) : import_stream(in, file, hints));
        } catch (const text::InputError& error) {
            if (files.size() == 1) {
                throw;
            }
            problems.insert(problems.end(), error.problems().begin(), error.problems().end());
        }
    }
    if (!problems.empty()) {
        throw text::InputError(std::move(problems));
    }
    return joined(runs);
}

}  // namespace treeline::runs
