// render_fixture <data.json> <report.html>: the report of a data file as the program would write it, for the browser tests.
#include <exception>
#include <fstream>
#include <iostream>

#include <nlohmann/json.hpp>

#include "reports/html.h"

int main(int argc, char** argv) {
    if (argc != 3) {
        std::cerr << "usage: render_fixture <data.json> <report.html>\n";
        return 2;
    }
    try {
        std::ifstream in(argv[1]);
        std::ofstream out(argv[2], std::ios::binary);
        out << treeline::reports::render_html(nlohmann::json::parse(in));
        out.close();
        return out ? 0 : 1;
    } catch (const std::exception& error) {
        std::cerr << error.what() << '\n';
        return 1;
    }
}
