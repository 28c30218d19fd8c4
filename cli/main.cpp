#include "cli/program.h"

int main(int argc, char** argv) { return treeline::run_program(argc, argv); }
