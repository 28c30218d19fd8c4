// Sweeps whose progress and answers are kept in a store.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "requests/catalogue.h"
#include "requests/sweep/sweep_flags.h"
#include "store/store.h"

namespace treeline::store {

/// A sweep as it was asked for: all that is needed to ask again.
struct SweepRequest {
    sweeps::SweepInput input;
    sweeps::SweepOptions options;
    Question question;
};

/// Reads a file of axes. Throws InputError.
SweepRequest sweep_request(const std::string& file, const requests::FlagTexts& texts, bool ignore_memory,
                           const requests::Catalogue& catalogue);
/// A stored question, asked of today's catalogue.
SweepRequest sweep_request(const Question& stored, const requests::Catalogue& catalogue);

struct StoredAnswer {
    sweeps::SweepSummary summary;
    std::int64_t run = 0;
    bool was_known = false;        ///< nothing had to be priced
    std::uint64_t went_on_at = 0;  ///< task of an earlier run that was not finished
};

/// "answered from results.sqlite as run 3".
std::string log_line(const StoredAnswer& answer, const std::string& store);

/// Answers from the store; goes on where an earlier run stopped; or begins. Saves about every `save_seconds` of the options.
/// `run` is run_sweep, or shares the work among processes. The answer is that of an undisturbed run, to the last bit.
using RunSweep = std::function<sweeps::SweepSummary(const sweeps::DesignSpace&, const sweeps::SweepOptions&)>;
StoredAnswer answer_from(Store& store, const SweepRequest& request, const RunSweep& run);

/// Copies every run of these files that `into` lacks; joins parts of a question once all of them are there. Returns sentences
/// that say what was done.
std::vector<std::string> merge_stores(Store& into, const std::vector<std::string>& files, const requests::Catalogue& catalogue);

}  // namespace treeline::store
