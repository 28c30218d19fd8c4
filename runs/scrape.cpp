#include "runs/scrape.h"

#include <chrono>
#include <memory>
#include <thread>

#include <curl/curl.h>
#include <fmt/format.h>

#include "text/input_error.h"

namespace treeline::runs {
namespace {

constexpr long patience_seconds = 10;
constexpr std::size_t longest_answer = 64u << 20;

struct HttpAnswer {
    std::string body, failure;  ///< why there is no answer
    long status = 0;

    [[nodiscard]] bool found() const { return failure.empty() && status == 200 && !body.empty(); }
};

std::size_t keep(char* data, std::size_t size, std::size_t count, void* to) {
    auto& body = *static_cast<std::string*>(to);
    if (body.size() + size * count > longest_answer) {
        return 0;
    }
    body.append(data, size * count);
    return size * count;
}

HttpAnswer get(const std::string& url) {
    const std::unique_ptr<CURL, void (*)(CURL*)> request(curl_easy_init(), curl_easy_cleanup);
    HttpAnswer answer;
    if (!request) {
        answer.failure = "no request can be made";
        return answer;
    }
    curl_easy_setopt(request.get(), CURLOPT_URL, url.c_str());
    curl_easy_setopt(request.get(), CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(request.get(), CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(request.get(), CURLOPT_FOLLOWLOCATION, 1L);
    curl_easy_setopt(request.get(), CURLOPT_CONNECTTIMEOUT, patience_seconds);
    curl_easy_setopt(request.get(), CURLOPT_TIMEOUT, 3 * patience_seconds);
    curl_easy_setopt(request.get(), CURLOPT_WRITEFUNCTION, keep);
    curl_easy_setopt(request.get(), CURLOPT_WRITEDATA, &answer.body);
    if (const CURLcode code = curl_easy_perform(request.get()); code != CURLE_OK) {
        answer.failure = curl_easy_strerror(code);
    }
    curl_easy_getinfo(request.get(), CURLINFO_RESPONSE_CODE, &answer.status);
    return answer;
}

/// The answer as lines, the last one complete.
std::string lines_of(const std::string& body) { return body.ends_with('\n') ? body : body + "\n"; }

}  // namespace

MeasuredRun scrape_run(const std::string& url, double seconds, const RunHints& hints) {
    std::string base = url;
    while (base.ends_with('/')) {
        base.pop_back();
    }
    if (!base.starts_with("http://") && !base.starts_with("https://")) {
        throw text::InputError(
            {fmt::format("--from: must be the address of a server, such as http://localhost:8000, not \"{}\"", url)});
    }
    const HttpAnswer metrics = get(base + "/metrics");
    if (!metrics.failure.empty()) {
        throw text::InputError({fmt::format("--from: {} does not answer: {}", base, metrics.failure)});
    }
    std::vector<MeasuredRun> runs;
    if (metrics.found()) {
        std::string text = lines_of(metrics.body);
        if (seconds > 0.0) {
            std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
            const HttpAnswer later = get(base + "/metrics");
            if (!later.found()) {
                throw text::InputError({fmt::format("--from: {}/metrics answered once, but not {} s later", base, seconds)});
            }
            text = text.front() == '{' || text.front() == '[' ? lines_of(later.body) : text + lines_of(later.body);
        }
        runs.push_back(import_run_text(text, base + "/metrics", hints));
    }
    for (const char* path : {"/server_info", "/get_server_info"}) {
        if (const HttpAnswer server = get(base + path); server.found() && server.body.front() == '{') {
            runs.push_back(import_run_text(server.body, base + path, hints));
            break;
        }
    }
    if (runs.empty()) {
        throw text::InputError(
            {fmt::format("--from: {} answers, but has neither /metrics (status {}) nor /server_info; vLLM has metrics by "
                         "default, SGLang with --enable-metrics, llama.cpp with --metrics",
                         base, metrics.status)});
    }
    return joined(runs);
}

}  // namespace treeline::runs
