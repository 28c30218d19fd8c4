// treeline recommend: the best configuration for a workload.
#include <memory>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/common_flags.h"
#include "cli/engine_flag.h"
#include "cli/recommend/workload_file.h"

namespace treeline {
namespace {

struct RecommendFlags {
    CommonFlags common;
    std::string file;
    std::string threads = "0";
    std::vector<std::string> engines;
};

void recommend_for(const RecommendFlags& flags) {
    const Format format = flags.common.chosen_format();
    const std::vector<Engine> engines = chosen_engines(flags.engines);
    AnsweredFile result = answer_file(flags.file, flags.common.find(), flags.threads);
    result.answer.engines = engines;
    flags.common.deliver(format == Format::json  ? recommendation_json(result.answer, result.raw).dump(2) + "\n"
                         : format == Format::csv ? recommendation_csv(result.answer)
                                                 : recommendation_table(result.answer));
}

}  // namespace

Run add_recommend(CLI::App& app) {
    auto flags = std::make_shared<RecommendFlags>();
    app.add_option("FILE", flags->file, "Workload (JSON): target, platforms, candidate drafters, traffic, limits")->required();
    app.add_option("--threads", flags->threads, "Threads to use; 0 is one a core; results do not depend on it")
        ->type_name("N")
        ->capture_default_str();
    add_engine_flag(app, flags->engines);
    add_common_flags(app, flags->common);
    app.footer("Example:\n  treeline recommend examples/llama-3-70b-8xh100.json");
    return [flags] { recommend_for(*flags); };
}

}  // namespace treeline
