// What one deployment was measured to do: how many drafts it accepted, and how long its steps took at each load. Every format
// of every engine is read into this, and everything that uses measurements starts from it.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "runs/counts.h"
#include "sim/enum_names.h"
#include "text/input_error.h"

namespace treeline::runs {

/// What identifies a deployment; empty where no file says.
struct RunIdentity {
    std::string engine, version;  ///< "vllm", "0.10.1"
    std::string model, drafter, method, device;
    double ranks = 0.0;  ///< devices; 0 = not stated
};

/// Whether passes replay CUDA graphs, by the engine's own log.
enum class GraphMode { unknown, full, piecewise, none };
constexpr auto names_in(GraphMode) {
    using enum GraphMode;
    return enum_names<GraphMode>({{unknown, "unknown"}, {full, "full"}, {piecewise, "piecewise"}, {none, "none"}});
}

/// How the deployment runs, as far as a file says it; empty or 0 where none does.
struct RunSettings {
    GraphMode graphs = GraphMode::unknown;
    std::string graphs_because;  ///< what the log says about them, where they are not what they could be
    std::string cache_format, attention, weights, scheduling;
    double data_parallel = 0.0;  ///< engines that each serve requests of their own; loads are then of one of them

    /// Takes over what is not known yet, and the worse of two graph modes.
    void add(const RunSettings& other);
};

/// A draft as SGLang's flags ask for it (--speculative-num-steps, --speculative-eagle-topk, --speculative-num-draft-tokens).
struct SglangDraft {
    int steps = 0, top_k = 1;
    int tokens = 0;  ///< root included; 0: not known

    [[nodiscard]] bool branches() const { return top_k > 1 && steps > 0 && tokens > 1; }
    /// Root excluded.
    [[nodiscard]] int draft_tokens() const { return tokens - 1; }
    /// As --shape takes a tree: "sglang:5,8,32"; empty for a chain.
    [[nodiscard]] std::string shape() const;
};

/// The tree that "sglang:5,8,32" or "5,8,32" names; nothing for another text, or a chain.
std::optional<SglangDraft> sglang_draft_of(const std::string& text);

/// What was measured at one load. Times are seconds.
struct RunCell {
    std::string variant;       ///< the back end, build, cache or device that it ran with, where a file tells several apart
    double batch = 0.0;        ///< sequences decoded together, or requests in flight; 0 = not known
    bool concurrency = false;  ///< `batch` is what clients kept in flight
    int draft_tokens = 0;      ///< of a draft, root excluded; 0 = plain decoding
    std::string shape;         ///< of the tree that they form, as --shape takes it; empty for a chain
    int depth = 0;             ///< levels of that tree, the root not counted
    double context = 0.0;      ///< mean tokens of a sequence while it decodes; 0 = not known
    double prompt_tokens = 0.0, output_tokens = 0.0;  ///< of a request in the mean; 0 = not known
    AcceptanceCounts acceptance;
    double stated_length = 0.0;  ///< accept length that an engine printed without saying how often it was measured; 0 = none
    /// A step: of plain decoding, or a whole round, without the prompts of other requests. Weighed by rounds of sequences.
    MeasuredMean round;
    MeasuredMean tpot, ttft;         ///< as clients see them, prompts of other requests included; by tokens, and by requests
    MeasuredMean tokens_per_second;  ///< of all users; by tokens
    MeasuredMean drafting;           ///< the drafter's part of a round; by rounds of sequences
    double captured_steps = 0.0, eager_steps = 0.0;  ///< steps that replayed a graph, and that did not, where a log says so

    /// Every reason why no load can be so, as sentences about a file; empty if it can. All formats, and runs of our own, are
    /// judged by it.
    [[nodiscard]] std::vector<std::string> problems() const;
    /// Drafts that one round can accept: those of a chain, levels of a tree.
    [[nodiscard]] int most_accepted() const { return shape.empty() ? draft_tokens : depth; }
    /// "4 draft tokens", "a tree of 31 draft tokens (sglang:5,8,32)".
    [[nodiscard]] std::string draft_text() const;
    /// Counted, or else printed; 1 for plain decoding; 0 where it is not known.
    [[nodiscard]] double accept_length() const;
    /// Whether `round` is of decoding alone: it agrees with TPOT · τ, and prompts of other requests lie in fewer than half of
    /// the steps, so that a median leaves them out.
    [[nodiscard]] bool round_is_decoding() const;
    /// The time of a round: measured, if it is of decoding, or else TPOT · τ, or batch · τ / (tokens/s), with the prompts of
    /// other requests. 0 where nothing gives it.
    [[nodiscard]] double round_seconds() const;
    /// Mean time per output token of a user: measured, or else from the throughput or the round. 0 where nothing gives it.
    [[nodiscard]] double tpot_seconds() const;
};

/// A pass over some tokens of each sequence, measured alone: the cost of verification without speculation.
struct PassTime {
    double sequences = 1.0, tokens = 1.0, context = 0.0;
    MeasuredMean seconds;
};

/// A file, and what it was taken for.
struct RunSource {
    std::string file, format;
};

struct MeasuredRun {
    RunIdentity identity;
    RunSettings settings;
    std::vector<RunSource> sources;
    std::vector<RunCell> cells;  ///< by draft tokens and shape, then batch, then context
    /// The same target and drafter with another back end, build, cache or device than `cells`: acceptance to compare with,
    /// of which no cost and no acceptance of this deployment is made.
    std::vector<RunCell> elsewhere;
    std::vector<PassTime> passes;
    std::vector<std::string> remarks;  ///< what was left out or assumed, as sentences

    /// The counts of all cells that draft.
    [[nodiscard]] AcceptanceCounts acceptance() const;
    /// The counts of all cells that draft a chain of this length, or this tree.
    [[nodiscard]] AcceptanceCounts acceptance(int draft_tokens, const std::string& shape = "") const;
    /// Draft lengths of chains that occur, plain decoding left out, ascending.
    [[nodiscard]] std::vector<int> draft_lengths() const;
    /// Cells that draft, one of each draft: chains by rising length, then trees.
    [[nodiscard]] std::vector<RunCell> drafts() const;
};

/// Facts that files leave open: what the user adds.
struct RunHints {
    RunIdentity identity;
    int draft_tokens = -1;  ///< below 0: not given
    SglangDraft tree;       ///< steps of 0: not given
    double batch = 0.0;     ///< 0: not given
    double context = 0.0;   ///< the same
};

/// A file in none of the formats that are read.
class UnknownFormat : public text::InputError {
public:
    explicit UnknownFormat(const std::string& file, const std::string& why = "");
    /// What was found in it, and why that is not enough; may be empty.
    [[nodiscard]] const std::string& why() const { return why_; }

private:
    std::string why_;
};

/// Reads files of one deployment in any of the formats of runs/formats, told apart by their content, and joins them. "-" is
/// standard input. Logs are streamed: memory does not grow with their length. Throws InputError with every problem, and nothing
/// is read by halves: unreadable or truncated files, impossible counts, rates where counts are needed, files of different
/// models or engines; UnknownFormat where a single file is of none.
MeasuredRun import_runs(const std::vector<std::string>& files, const RunHints& hints = {});
/// The same from a text; `name` is what messages call it.
MeasuredRun import_run_text(const std::string& text, const std::string& name, const RunHints& hints = {});

/// Runs of one deployment as one: cells of the same batch, draft length and context (within a tenth) are added up, with a
/// remark where their acceptance or their times differ. Runs of another variant than the first, and those whose drafts at a
/// load yield less than half or more than twice of what the first run's do, are kept apart (MeasuredRun::elsewhere). Throws
/// InputError where they are not of one model, engine or drafter.
MeasuredRun joined(const std::vector<MeasuredRun>& runs);

/// The formats that are read, as sentences of a help text: "vLLM: ...".
std::vector<std::string> run_formats();

}  // namespace treeline::runs
