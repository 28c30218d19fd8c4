// Recommendations that are kept in a store, beside sweeps: the workload as it was asked, the answer as it was printed, and its
// candidates as rows.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "requests/recommend/workload_file.h"
#include "store/store.h"

namespace treeline::store {

/// A workload as it was asked for.
struct RecommendRequest {
    requests::WorkloadSource source;
    Question question;
};

RecommendRequest recommend_request(requests::WorkloadSource source, const requests::Catalogue& catalogue);
/// A stored question, asked of today's catalogue. Throws InputError.
RecommendRequest recommend_request(const Question& stored, const requests::Catalogue& catalogue);
/// Whether a question is one of these.
bool is_recommendation(const Question& question);

struct StoredRecommendation {
    std::string table, csv, json;  ///< the answer in every format
    std::int64_t run = 0;
    bool was_known = false;  ///< nothing had to be priced
};

/// Answers from the store, or works the answer out and keeps it.
StoredRecommendation answer_from(Store& store, const RecommendRequest& request, unsigned threads);

/// What `treeline recommend --store FILE` prints, in that format ("table", "csv" or "json"); where it comes from goes to the
/// log. Throws InputError, for an export among others, which needs the answer itself.
std::string recommendation_text(const std::string& file, requests::WorkloadSource source, const std::string& exported,
                                const std::string& format, const requests::Catalogue& catalogue);

}  // namespace treeline::store
