#include "runs/scrape.h"

#include <chrono>
#include <memory>
#include <thread>

#include <curl/curl.h>
#include <fmt/format.h>

#include "text/input_error.h"
#include "text/wording.h"

namespace treeline::runs {
namespace {

constexpr long patience_seconds = 10;
constexpr int most_redirections = 5;
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

/// A part of an address; empty where there is none.
std::string part_of(CURLU* address, CURLUPart part, unsigned flags = 0) {
    char* found = nullptr;
    if (curl_url_get(address, part, &found, flags) != CURLUE_OK) {
        return "";
    }
    const std::unique_ptr<char, void (*)(void*)> owner(found, curl_free);
    return found;
}

using Address = std::unique_ptr<CURLU, void (*)(CURLU*)>;

Address parsed_address(const std::string& url) {
    Address address(curl_url(), curl_url_cleanup);
    if (address && curl_url_set(address.get(), CURLUPART_URL, url.c_str(), 0) != CURLUE_OK) {
        address.reset();
    }
    return address;
}

/// "http://host:8000/" of an address, which is what a password is given to.
std::string server_of(const std::string& url) {
    const Address address = parsed_address(url);
    return address ? fmt::format("{}://{}:{}", part_of(address.get(), CURLUPART_SCHEME), part_of(address.get(), CURLUPART_HOST),
                                 part_of(address.get(), CURLUPART_PORT, CURLU_DEFAULT_PORT))
                   : "";
}

/// The address as messages and files show it: without user and password, and without its query, in which a token may stand.
std::string shown_address(const std::string& url) {
    const Address address = parsed_address(url);
    if (!address) {
        const std::string place = url.substr(0, url.find_first_of("?#"));
        const std::size_t at = place.rfind('@');
        return at == std::string::npos ? place : place.substr(at + 1);
    }
    curl_url_set(address.get(), CURLUPART_USER, nullptr, 0);
    curl_url_set(address.get(), CURLUPART_PASSWORD, nullptr, 0);
    curl_url_set(address.get(), CURLUPART_QUERY, nullptr, 0);
    curl_url_set(address.get(), CURLUPART_FRAGMENT, nullptr, 0);
    std::string shown = part_of(address.get(), CURLUPART_URL);
    while (shown.ends_with('/')) {
        shown.pop_back();
    }
    return shown;
}

/// One request, which follows no redirection; `next` receives where one leads.
HttpAnswer get_once(const std::string& url, std::string& next) {
    const std::unique_ptr<CURL, void (*)(CURL*)> request(curl_easy_init(), curl_easy_cleanup);
    HttpAnswer answer;
    if (!request) {
        answer.failure = "no request can be made";
        return answer;
    }
    curl_easy_setopt(request.get(), CURLOPT_URL, url.c_str());
    curl_easy_setopt(request.get(), CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(request.get(), CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(request.get(), CURLOPT_CONNECTTIMEOUT, patience_seconds);
    curl_easy_setopt(request.get(), CURLOPT_TIMEOUT, 3 * patience_seconds);
    curl_easy_setopt(request.get(), CURLOPT_WRITEFUNCTION, keep);
    curl_easy_setopt(request.get(), CURLOPT_WRITEDATA, &answer.body);
    if (const CURLcode code = curl_easy_perform(request.get()); code != CURLE_OK) {
        answer.failure = curl_easy_strerror(code);
    }
    curl_easy_getinfo(request.get(), CURLINFO_RESPONSE_CODE, &answer.status);
    const char* redirect = nullptr;
    curl_easy_getinfo(request.get(), CURLINFO_REDIRECT_URL, &redirect);
    next = redirect != nullptr ? redirect : "";
    return answer;
}

/// Follows redirections within the server, which may have been told a password.
HttpAnswer get(const std::string& url) {
    std::string at = url, next;
    for (int followed = 0; followed <= most_redirections; ++followed) {
        HttpAnswer answer = get_once(at, next);
        if (next.empty() || !answer.failure.empty()) {
            return answer;
        }
        if (server_of(next) != server_of(url)) {
            answer.failure = fmt::format("it redirects to another server, {}; give that address if you trust it",
                                         text::shortened(shown_address(next), 200));
            return answer;
        }
        at = next;
    }
    return {"", fmt::format("it redirects more than {} times", most_redirections), 0};
}

/// The answer as lines, the last one complete.
std::string lines_of(const std::string& body) { return body.ends_with('\n') ? body : body + "\n"; }

}  // namespace

bool can_scrape() { return true; }

MeasuredRun scrape_run(const std::string& url, double seconds, const RunHints& hints) {
    std::string base = url;
    while (base.ends_with('/')) {
        base.pop_back();
    }
    if (!base.starts_with("http://") && !base.starts_with("https://")) {
        throw text::InputError({fmt::format(
            "--from: must be the address of a server, such as http://localhost:8000, not \"{}\"", shown_address(url))});
    }
    const std::string shown = shown_address(base);
    const HttpAnswer metrics = get(base + "/metrics");
    if (!metrics.failure.empty()) {
        throw text::InputError({fmt::format("--from: {} does not answer: {}", shown, metrics.failure)});
    }
    std::vector<MeasuredRun> runs;
    if (metrics.found()) {
        std::string text = lines_of(metrics.body);
        if (seconds > 0.0) {
            std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
            const HttpAnswer later = get(base + "/metrics");
            if (!later.found()) {
                throw text::InputError({fmt::format("--from: {}/metrics answered once, but not {} s later", shown, seconds)});
            }
            text = text.front() == '{' || text.front() == '[' ? lines_of(later.body) : text + lines_of(later.body);
        }
        runs.push_back(import_run_text(text, shown + "/metrics", hints));
    }
    for (const char* path : {"/server_info", "/get_server_info"}) {
        if (const HttpAnswer server = get(base + path); server.found() && server.body.front() == '{') {
            runs.push_back(import_run_text(server.body, shown + path, hints));
            break;
        }
    }
    if (runs.empty()) {
        throw text::InputError(
            {fmt::format("--from: {} answers, but has neither /metrics (status {}) nor /server_info; vLLM has metrics by "
                         "default, SGLang with --enable-metrics, llama.cpp with --metrics",
                         shown, metrics.status)});
    }
    return joined(runs);
}

}  // namespace treeline::runs
