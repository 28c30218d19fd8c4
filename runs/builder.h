// What the formats have in common: a run is built up cell by cell, and each count is judged where it stands in its file.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "runs/run.h"

namespace treeline::runs {

using RunJson = nlohmann::json;

/// In which rounds a drafter drafts: look-ups in those in which they find something, all others in each.
enum class DraftsWhen { unknown, always, found };
/// By a method or a drafter as engines and people name them ("ngram_gpu", "suffix", "eagle3"); unknown for an empty name.
DraftsWhen drafts_when(std::string_view name);

/// Collects one file.
class RunBuilder {
public:
    RunBuilder(std::string file, const RunHints& hints);

    /// Where reading is, for messages: a line from 1, or 0 for the file as a whole.
    void at_line(long line) { line_ = line; }
    [[nodiscard]] long line() const { return line_; }
    void format(const std::string& name);
    /// These contradict what was said before: a problem.
    void engine(const std::string& name, const std::string& version = "");
    void model(const std::string& name);
    void drafter(const std::string& name);
    void method(const std::string& name);
    /// What a pasted command says of the deployment. It is kept where nothing that was measured says it and no other command
    /// says something else.
    void command(const RunIdentity& said);
    /// Whether the last command asks for drafts, however many tokens.
    void command_drafts(bool drafts) { command_drafts_ = drafts; }
    [[nodiscard]] bool command_drafts() const { return command_drafts_; }
    /// Whether the last command is of a server that drafts nothing, as far as it says all that the server was given.
    void command_is_plain(bool plain) { command_is_plain_ = plain; }
    [[nodiscard]] bool command_is_plain() const { return command_is_plain_; }
    void ranks(double count) { run_.identity.ranks = std::max(run_.identity.ranks, count); }
    void settings(const RunSettings& found) { run_.settings.add(found); }
    /// Draft tokens that the deployment says it drafts; used where a count does not say it.
    void draft_tokens(int count) {
        stated_draft_tokens_ = count;
        stated_tree_ = {};
        if (count > 0) {
            stated_lengths_.insert(count);
        }
    }
    /// A draft that the file itself states, or counts by position, and that is not what --draft-tokens or --shape says: a
    /// contradiction. None where it drafts nothing.
    void agree_with_hint(const SglangDraft& stated);
    /// The same in SGLang's words; loads that follow and draft as many tokens form that tree.
    void draft(const SglangDraft& stated);
    /// What the deployment says it drafts; below 0 if it says nothing.
    [[nodiscard]] int stated_draft_tokens() const { return stated_draft_tokens_; }
    /// A hint beats what a file says; below 0 if neither knows.
    [[nodiscard]] int draft_tokens_or(int counted) const;
    /// The hint, or what is assumed where nothing says how many requests were in flight.
    [[nodiscard]] double batch_or(double assumed) const { return hints_.batch > 0.0 ? hints_.batch : assumed; }

    /// What a command of a benchmark's client says of its requests, where results after it do not; 0 where it says none.
    struct Client {
        double in_flight = 0.0, prompt_tokens = 0.0, output_tokens = 0.0;
    };
    void client(const Client& said) { client_ = said; }
    [[nodiscard]] const Client& client() const { return client_; }

    /// What the loads of this file ran with, as far as it says it (RunCell::variant), and what the loads that follow ran with
    /// instead; empty for the former.
    void own_variant(const std::string& name) { own_variant_ = own_variant_.empty() ? name : own_variant_; }
    void variant(const std::string& name) { variant_ = name; }

    /// The cell at a load. A batch or context of 0 is the hint's, if there is one.
    RunCell& cell(double batch, int draft_tokens, double context = 0.0);
    /// The same for one of many requests: those whose contexts lie within one octave share a cell, at the mean of their
    /// contexts weighted by `rounds`.
    RunCell& cell_of_request(double batch, int draft_tokens, double context, double rounds);
    /// The same for one line of a log: lines whose contexts lie within a factor of 1.9, or 512 tokens, share a cell, whose
    /// context the caller averages.
    RunCell& cell_of_line(double batch, int draft_tokens, double context);
    /// Whether the drafter is one that drafts in some rounds only, as far as the file and the user say what it is.
    [[nodiscard]] DraftsWhen drafts_when() const;
    /// Of counts that leave out the rounds in which nothing was drafted (vLLM's, by request): adds those, which `generated`
    /// tokens tell, the first of each request left out, since a round yields its accepted drafts and one token more. Of a
    /// drafter that always drafts nothing is added; where such tokens are too many or too few for its counts, the run says so.
    /// `likely` is false where nothing says that counts and tokens are of the same requests: then they are added for look-ups
    /// alone.
    void add_undrafted_rounds(AcceptanceCounts& counts, double generated, bool likely = true);
    /// Generated tokens were not of the requests that were counted: they tell nothing of rounds.
    void counted_elsewhere();
    /// Adds a block of counts, unless it is impossible.
    void count(RunCell& cell, const AcceptanceCounts& block);
    /// An accept length that is printed without counts. Several of one cell become their mean, weighted as the times beside
    /// them; one below 1 is none.
    void state_length(RunCell& cell, double length, double weight = 1.0);
    /// A time above 0, in seconds; another is a problem that names `what`. What it weighs is of one kind for each mean: rounds
    /// of single sequences (RunCell::round, drafting), tokens (tpot) or requests (ttft); 0: not known.
    void time(MeasuredMean& mean, const char* what, double seconds, double weight = 0.0);
    void pass(const PassTime& pass) { run_.passes.push_back(pass); }
    void own_run(MeasuredRun run) {
        run_ = std::move(run);
        is_own_run_ = true;
    }

    /// What is wrong with the record at this line, or with the file. Records that are few beside those that count are left
    /// out, each with a remark; without lines, or among few good ones, they refuse the file.
    void problem(const std::string& sentence);
    /// What refuses the file whatever else it holds: it is of two deployments.
    void contradiction(const std::string& sentence);
    /// Once, however often it is said.
    void remark(const std::string& sentence);
    /// Tokens a round of which `drafts` are drafted and the share `rate` of these accepted. 0, with a remark, where that is
    /// more than any drafter is known to reach: then it is a share of something else.
    [[nodiscard]] double length_of_rate(double rate, int drafts);

    /// The same where nothing so far says how many tokens a load drafts.
    void lacks_draft_tokens(const std::string& sentence);
    /// The one draft length that the file states, or that it counts by position, where a record above the statement lacked it;
    /// 0 where none did, or several are stated.
    [[nodiscard]] int drafts_stated_below() const;

    /// Why something that looks like measurements is not read; said where nothing else of the file is.
    void unread(const std::string& why) { unread_ = unread_.empty() ? why : unread_; }

    /// Whether anything was measured so far.
    [[nodiscard]] bool has_measurements() const { return !run_.cells.empty() || !run_.passes.empty(); }
    /// Whether the line that is read is the last one and no line feed ends it, so that it may be cut off.
    void line_is_open(bool open) { line_is_open_ = open; }
    [[nodiscard]] bool line_is_open() const { return line_is_open_; }
    /// Such a line has less than others of its form.
    void line_breaks_off() { line_breaks_off_ = true; }
    [[nodiscard]] bool has_line_broken_off() const { return line_breaks_off_; }
    [[nodiscard]] long bad_records() const { return bad_records_; }

    [[nodiscard]] bool broken() const { return !contradictions_.empty(); }
    [[nodiscard]] const std::string& file() const { return file_; }
    /// Throws InputError with the problems, or because nothing was measured; UnknownFormat.
    MeasuredRun take();

private:
    void say(std::string& known, const std::string& said, const std::string& hinted, const char* what);

    std::string file_;
    RunHints hints_;
    MeasuredRun run_;
    RunCell& cell_at(double batch, int draft_tokens, double context, long key);

    /// The tree that drafts of so many tokens form; a chain where none was stated.
    [[nodiscard]] SglangDraft tree_of(int draft_tokens) const;

    std::map<std::tuple<int, std::string, double, long, std::string>, std::size_t> cells_;
    /// Least and largest context of lines that share a cell.
    struct ContextClass {
        double least = 0.0, largest = 0.0;
    };
    std::map<std::tuple<int, std::string, double>, std::vector<ContextClass>> classes_;
    std::map<std::size_t, double> rounds_of_cells_;
    std::map<std::size_t, double> weights_of_lengths_;  ///< of accept lengths that were stated, by cell
    std::vector<std::string> problems_, contradictions_, formats_;
    std::string last_format_;
    std::vector<std::string> formats_of_cells_;  ///< which first measured each cell
    std::string unread_, own_variant_, variant_;
    /// What commands say of a deployment by name.
    static constexpr std::array<std::string RunIdentity::*, 4> commanded_fields = {&RunIdentity::engine, &RunIdentity::model,
                                                                                   &RunIdentity::drafter, &RunIdentity::method};
    std::array<std::set<std::string>, 4> commanded_;  ///< engine, model, drafter and method by commands
    std::set<double> commanded_ranks_;
    bool command_drafts_ = false, command_is_plain_ = false;
    Client client_;
    /// What was generated beside counts of drafts, and what these account for.
    struct Generated {
        double tokens = 0.0, counted = 0.0;
        bool elsewhere = false;
    };
    Generated generated_;
    int stated_draft_tokens_ = -1;
    std::set<int> stated_lengths_;  ///< all that the file states
    SglangDraft stated_tree_;
    long line_ = 0;
    long bad_line_ = 0, bad_records_ = 0, good_records_ = 0, good_line_ = 0;
    bool file_is_bad_ = false, line_is_open_ = false, line_breaks_off_ = false;
    bool unknown_drafts_ = false, stated_above_ = false;  ///< the latter: a length stood above the first such record
    bool is_own_run_ = false;                             ///< which has its variants apart

    void take_over_commands();
    void say_undrafted_rounds();
    void leave_out_other_baselines();
    void keep_variants_apart();
    void good();
    void leave_out_bad_records();
    void judge_cells();
    void leave_out_empty_cells();
    [[nodiscard]] std::string placed(const std::string& sentence) const;
};

/// Reads lines of one kind of log; each line is offered to all of them.
class LineReader {
public:
    virtual ~LineReader() = default;
    LineReader() = default;
    LineReader(const LineReader&) = delete;
    LineReader& operator=(const LineReader&) = delete;
    /// Whether the line was of this kind.
    virtual bool take(std::string_view line, RunBuilder& run) = 0;
    /// After the last line.
    virtual void finish(RunBuilder& run) = 0;
};

std::vector<std::unique_ptr<LineReader>> line_readers();

/// A kind of JSON document or line.
struct JsonFormat {
    const char* name;  ///< "vllm bench serve"
    bool (*is)(const RunJson&);
    void (*read)(const RunJson&, RunBuilder&);
};
const std::vector<JsonFormat>& json_formats();

/// A table by its header.
struct TableFormat {
    const char* name;
    bool (*is)(const std::vector<std::string>& header);
    void (*read)(const std::string& text, RunBuilder&);
};
const std::vector<TableFormat>& table_formats();

namespace run_formats_of {
JsonFormat own_file();
std::vector<JsonFormat> vllm();
std::vector<JsonFormat> sglang();
std::vector<JsonFormat> tensorrt_llm();
std::vector<JsonFormat> llama_cpp();
std::vector<JsonFormat> clients();
std::vector<JsonFormat> local_answers();
std::unique_ptr<LineReader> vllm_log();
std::unique_ptr<LineReader> vllm_progress();
std::unique_ptr<LineReader> sglang_log();
std::unique_ptr<LineReader> llama_cpp_log();
std::unique_ptr<LineReader> mlx_log();
std::unique_ptr<LineReader> local_runners();
std::unique_ptr<LineReader> prometheus();
std::unique_ptr<LineReader> console_report();
std::unique_ptr<LineReader> pipe_tables();
std::unique_ptr<LineReader> load_tables();
std::unique_ptr<LineReader> pasted_commands();
std::unique_ptr<LineReader> prose_results();
std::unique_ptr<LineReader> metric_tables();
std::unique_ptr<LineReader> engine_steps();
std::unique_ptr<LineReader> script_reports();
std::unique_ptr<LineReader> question_reports();
/// JSON that stands on a line of its own in a log.
std::unique_ptr<LineReader> json_lines();
}  // namespace run_formats_of

/// The number under a key, or under a path of keys with dots; nothing if it is absent, null or no number.
std::optional<double> number_at(const RunJson& json, std::string_view path);
std::string text_at(const RunJson& json, std::string_view path);
/// The node at a path, or null.
const RunJson* node_at(const RunJson& json, std::string_view path);
/// Numbers of an array, or of an object whose keys are indices; nothing if it is neither.
std::optional<std::vector<double>> numbers_at(const RunJson& json, std::string_view path);

/// The number that follows a text in a line ("accept len: 2.85"); nothing without either.
std::optional<double> number_after(std::string_view line, std::string_view text);
/// The numbers after a text, separated by commas.
std::vector<double> numbers_after(std::string_view line, std::string_view text);
/// The word after a text, without quotes; ends at a comma, a blank or a bracket.
std::string word_after(std::string_view line, std::string_view text);

/// Counts of a mean that was printed without counters: `tokens` were generated with this accept length.
AcceptanceCounts counts_of_mean(double accept_length, double tokens, int draft_tokens);

}  // namespace treeline::runs
