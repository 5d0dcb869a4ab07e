# SPDX-License-Identifier: GPL-3.0-or-later
# occam: one Makefile for everything. `make help` lists the targets, docs/ARCHITECTURE.md the rooms.
MAKEFLAGS += --warn-undefined-variables --no-builtin-rules --no-print-directory
SHELL := /bin/sh
.DELETE_ON_ERROR:
.SUFFIXES:
.DEFAULT_GOAL := all

VERSION := 0.1.0

# ---- what a user may set: make CONFIG=debug SANITIZE=address,undefined STRICT=1 V=1 ... --------------------------
CONFIG ?= release
SANITIZE ?=
STRICT ?= 0
V ?= 0
BUILD_ROOT ?= build
PREFIX ?= /usr/local
DESTDIR ?=
SUITES ?=
CASES ?=
CUDA ?= auto
CUDA_HOME ?= /usr/local/cuda
# auto: release builds compile data/campaigns/embedded.plan where NVRTC is found; 0 and CUDA=0: nothing is built in.
EMBED_CODE ?= auto
PKG_CONFIG ?= pkg-config
AR := ar
ifeq ($(origin CC),default)
CC := gcc
endif
CFLAGS ?= -O2 -g
CPPFLAGS ?=
LDFLAGS ?=
OCCAM_SHARED ?= ../shared
export OCCAM_SHARED

EVIDENCE_ROOMS := evidence evidence/code evidence/scenario evidence/serving evidence/profiles evidence/claims evidence/ledger
ALL_ROOMS := base model/describe model/predict sim kernels calibrate calibrate/experiment $(EVIDENCE_ROOMS) plots cli
ROOMS ?= $(ALL_ROOMS)

ifeq ($(filter $(CONFIG),release debug coverage),)
$(error CONFIG=$(CONFIG) is unknown: release, debug or coverage)
endif
ifneq ($(filter-out $(ALL_ROOMS),$(ROOMS)),)
$(error ROOMS names unknown rooms: $(filter-out $(ALL_ROOMS),$(ROOMS)); known are $(ALL_ROOMS))
endif

# ---- output tree and flags ---------------------------------------------------------------------------------------
comma := ,
empty :=
space := $(empty) $(empty)
quote := '
SANITIZE_SUFFIX := $(if $(SANITIZE),-$(subst $(comma),-,$(SANITIZE)))
BUILD := $(BUILD_ROOT)/$(CONFIG)$(SANITIZE_SUFFIX)

WARNINGS := -Wall -Wextra -Wconversion -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wundef \
            -Wdouble-promotion -Wwrite-strings -Wswitch-enum $(if $(filter 1,$(STRICT)),-Werror)
CONFIG_FLAGS_release := $(CFLAGS)
CONFIG_FLAGS_debug := -O0 -g3
CONFIG_FLAGS_coverage := -O0 -g --coverage
SANITIZE_FLAGS := $(if $(SANITIZE),-fsanitize=$(SANITIZE) -fno-sanitize-recover=all -fno-omit-frame-pointer)
ALL_CPPFLAGS := -I. -D_POSIX_C_SOURCE=200809L -D_DEFAULT_SOURCE $(CPPFLAGS)
# No -ffast-math, no -march=native, no contraction: the same input gives the same digits on every machine.
OPENMP := -fopenmp
ALL_CFLAGS := -std=c17 -ffp-contract=off $(OPENMP) $(CONFIG_FLAGS_$(CONFIG)) $(SANITIZE_FLAGS)
ALL_LDFLAGS := $(OPENMP) $(CONFIG_FLAGS_$(CONFIG)) $(SANITIZE_FLAGS) -Wl,--as-needed $(LDFLAGS)

ifeq ($(V),1)
Q :=
say = @:
else
Q := @
say = @printf '  %-8s %s\n' '$1' '$(subst $(quote),,$2)'
endif

# ---- libraries: probed once into features.mk, never before the packages were installed ----------------------------
# Targets that work on a bare machine; everything else needs the compiler and the libraries.
BARE_GOALS := help clean distclean setup-build setup-test setup-check demo test format format-check \
              check-layers check-data check-docs check-words fuzz fuzz-replay
GOALS := $(if $(MAKECMDGOALS),$(MAKECMDGOALS),all)
FEATURES := $(BUILD)/features.mk
FEATURES_MISSING :=
CHECK_CFLAGS :=
CHECK_LIBS :=
HAVE_CHECK := 0
HAVE_CUDA := 0
HAVE_CUDA_OCCUPANCY := 0
ifneq ($(filter-out $(BARE_GOALS),$(GOALS)),)
include $(FEATURES)
endif
LIBRARIES := GSL LIBFYAML MUPARSER JANSSON ZLIB LIBELF SQLITE
$(foreach L,$(LIBRARIES),$(eval $L_CFLAGS ?=)$(eval $L_LIBS ?=))
LIB_CFLAGS := $(foreach L,$(LIBRARIES),$($L_CFLAGS))
LIB_LIBS := $(foreach L,$(LIBRARIES),$($L_LIBS)) -lm -ldl

$(BUILD)/features.key: FORCE
	@.ci/write-if-changed $@ '$(CC) $(CUDA) $(CUDA_HOME)' "$$(command -v '$(firstword $(CC))' gnuplot nvcc || :)"
# While something is missing the probe runs again each time, so that installing it is enough.
$(FEATURES): $(BUILD)/features.key .ci/probe .ci/install $(if $(FEATURES_MISSING),FORCE)
	@CC='$(CC)' PKG_CONFIG='$(PKG_CONFIG)' CUDA='$(CUDA)' CUDA_HOME='$(CUDA_HOME)' .ci/probe $@

# ---- sources -----------------------------------------------------------------------------------------------------
room_sources = $(sort $(wildcard $(addsuffix /*.c,$1)))
LIB_ROOMS := $(filter-out cli,$(ROOMS))
LIB_SOURCES := $(call room_sources,$(LIB_ROOMS))
CLI_SOURCES := $(call room_sources,cli)
ROOM_SOURCES := $(call room_sources,$(ROOMS))
HEADERS := $(sort $(wildcard $(addsuffix /*.h,$(ALL_ROOMS))))
# The public interface is what occam.h includes; the other headers of a room are its own business.
PUBLIC_HEADERS := $(shell sed -n 's/^.include "\(.*\)"/\1/p' occam.h)
TEST_SOURCES := $(sort $(wildcard tests/*/*.c))
EXAMPLE_SOURCES := $(sort $(wildcard examples/*.c))
C_SOURCES := $(call room_sources,$(ALL_ROOMS)) $(TEST_SOURCES) $(EXAMPLE_SOURCES) $(sort $(wildcard tools/*.c))
FORMATTED := $(C_SOURCES) $(HEADERS) $(sort $(wildcard tests/*/*.h)) occam.h
DATA_FILES := $(shell LC_ALL=C find data/compute_capabilities data/devices data/resources data/scenarios \
              $(wildcard data/calibrations) -type f \( -name '*.csv' -o -name '*.yaml' -o -name '*.json' \) 2>/dev/null | LC_ALL=C sort)

objects_of = $(patsubst %.c,$(BUILD)/%.o,$1)
EMBEDDED_OBJECTS := $(if $(filter evidence,$(ROOMS)),$(BUILD)/embedded/data.o $(BUILD)/embedded/table.o)
KERNEL_TEXTS := $(sort $(wildcard kernels/*.cu kernels/*.cuh))
KERNEL_OBJECTS := $(BUILD)/embedded/kernels.o $(BUILD)/embedded/kernel_table.o
CODE_OBJECTS := $(BUILD)/embedded/code.o $(BUILD)/embedded/code_table.o
EMBEDDED_OBJECTS += $(if $(filter kernels,$(ROOMS)),$(KERNEL_OBJECTS) $(CODE_OBJECTS))
LIB_OBJECTS := $(call objects_of,$(LIB_SOURCES)) $(EMBEDDED_OBJECTS)
# A part of the library (ROOMS=..., or LIB_SOURCES="base/status.c ...") never takes the whole one's place.
PARTIAL := $(filter-out $(ROOMS),$(filter-out cli,$(ALL_ROOMS)))$(filter command,$(origin LIB_SOURCES))
LIBRARY := $(BUILD)/$(if $(strip $(PARTIAL)),partial/)liboccam.a
PROGRAM := $(BUILD)/occam

# ---- build -------------------------------------------------------------------------------------------------------
.PHONY: FORCE all
all: $(PROGRAM) $(BUILD)/occam.1 ## build the program (build/occam) and liboccam.a; the default
ifeq ($(BUILD),$(BUILD_ROOT)/release)
all: $(BUILD_ROOT)/occam
$(BUILD_ROOT)/occam: $(PROGRAM)
	@ln -sf release/occam $@
endif

.PHONY: objects library
objects: $(call objects_of,$(ROOM_SOURCES)) $(EMBEDDED_OBJECTS) ## compile only: make objects ROOMS="base model/describe"
library: $(LIBRARY) ## build liboccam.a only

FLAGS_TEXT := $(CC) $(ALL_CPPFLAGS) $(LIB_CFLAGS) $(ALL_CFLAGS) $(WARNINGS) $(VERSION) $(HAVE_CUDA) $(HAVE_CUDA_OCCUPANCY)
$(BUILD)/flags.stamp: FORCE
	@.ci/write-if-changed $@ '$(subst $(quote),,$(FLAGS_TEXT))'
LINK_TEXT := $(CC) $(ALL_LDFLAGS) $(LIB_LIBS) $(CHECK_LIBS)
$(BUILD)/link.stamp: FORCE
	@.ci/write-if-changed $@ '$(subst $(quote),,$(LINK_TEXT))'

DEFINES := -DOCCAM_VERSION='"$(VERSION)"' -DOCCAM_WITH_CUDA=$(HAVE_CUDA)
TEST_DEFINES := -DOCCAM_WITH_CUDA_OCCUPANCY=$(HAVE_CUDA_OCCUPANCY) \
                $(if $(filter 1,$(HAVE_CUDA_OCCUPANCY)),-isystem $(CUDA_HOME)/include)
# Only one file knows the revision, so a commit rebuilds only that one.
REVISION := $(shell git describe --always --dirty 2>/dev/null || echo unknown)
$(BUILD)/revision.stamp: FORCE
	@.ci/write-if-changed $@ '$(REVISION)'
$(BUILD)/cli/program_version.o: DEFINES += -DOCCAM_REVISION='"$(REVISION)"'
$(BUILD)/cli/program_version.o: $(BUILD)/revision.stamp

ROOM_CC = $(CC) $(ALL_CPPFLAGS) $(DEFINES) $(LIB_CFLAGS) $(ALL_CFLAGS) $(WARNINGS)
TEST_CC = $(CC) $(ALL_CPPFLAGS) $(TEST_DEFINES) $(DEFINES) $(LIB_CFLAGS) $(CHECK_CFLAGS) $(ALL_CFLAGS) \
          $(filter-out -Wmissing-prototypes,$(WARNINGS))

$(BUILD)/tests/%.o: tests/%.c $(BUILD)/flags.stamp
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(TEST_CC) -MMD -MP -c -o $@ $<
$(BUILD)/%.o: %.c $(BUILD)/flags.stamp
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(ROOM_CC) -MMD -MP -c -o $@ $<

# Files of data/ go into the program unchanged: the reader that parses them is the one that parses users' files.
$(BUILD)/embedded/list: FORCE
	@.ci/write-if-changed $@ '$(DATA_FILES)'
$(BUILD)/embedded/data.S: $(BUILD)/embedded/list $(DATA_FILES) .ci/embed-data
	@.ci/embed-data assembler $(DATA_FILES) > $@
$(BUILD)/embedded/table.c: $(BUILD)/embedded/list $(DATA_FILES) .ci/embed-data
	@.ci/embed-data table $(DATA_FILES) > $@
$(BUILD)/embedded/data.o: $(BUILD)/embedded/data.S $(BUILD)/flags.stamp
	$(call say,AS,$<)
	$(Q)$(CC) -c -o $@ $<
$(BUILD)/embedded/table.o: $(BUILD)/embedded/table.c $(BUILD)/flags.stamp evidence/embedded_data.h
	$(call say,CC,$<)
	$(Q)$(ROOM_CC) -c -o $@ $<

# Kernel texts go in likewise; NVRTC compiles them where they run, so the build needs no CUDA.
$(BUILD)/embedded/kernel_list: FORCE
	@.ci/write-if-changed $@ '$(KERNEL_TEXTS)'
$(BUILD)/embedded/kernels.S: $(BUILD)/embedded/kernel_list $(KERNEL_TEXTS) .ci/embed-kernels
	@.ci/embed-kernels assembler $(KERNEL_TEXTS) > $@
$(BUILD)/embedded/kernel_table.c: $(BUILD)/embedded/kernel_list .ci/embed-kernels
	@.ci/embed-kernels table $(KERNEL_TEXTS) > $@
$(BUILD)/embedded/kernels.o: $(BUILD)/embedded/kernels.S $(BUILD)/flags.stamp
	$(call say,AS,$<)
	$(Q)$(CC) -c -o $@ $<
$(BUILD)/embedded/kernel_table.o: $(BUILD)/embedded/kernel_table.c $(BUILD)/flags.stamp kernels/code_compiler.h
	$(call say,CC,$<)
	$(Q)$(ROOM_CC) -c -o $@ $<

# And so does machine code of some configurations, for machines with a driver alone. What was compiled once is found in
# KERNEL_CODE again, by every configuration of the build, as long as text, settings and NVRTC are the same.
EMBED_ARCHS := $(if $(filter 0,$(CUDA) $(EMBED_CODE))$(filter-out release,$(CONFIG))$(SANITIZE),,80 86 89 90 100 120)
KERNEL_CODE ?= $(BUILD_ROOT)/kernel-code
EMBED_PROGRAM := $(BUILD)/embedded/embed-code
EMBED_LISTS := $(EMBED_ARCHS:%=$(BUILD)/embedded/code/%.list)
$(BUILD)/embedded/no_code.c: .ci/embed-code
	@mkdir -p $(@D)
	@.ci/embed-code table > $@
$(EMBED_PROGRAM): $(BUILD)/tools/embed_code.o $(call objects_of,$(call room_sources,base kernels) calibrate/campaign_plan.c) \
                  $(BUILD)/embedded/no_code.o $(KERNEL_OBJECTS) $(BUILD)/link.stamp
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $(filter %.o,$^) -lm -ldl
$(BUILD)/embedded/code.stamp: data/campaigns/embedded.plan .ci/embed-code $(FEATURES) $(if $(EMBED_ARCHS),$(EMBED_PROGRAM))
	$(if $(EMBED_ARCHS),$(call say,NVRTC,$< (EMBED_CODE=0 to leave it out)))
	@rm -rf '$(BUILD)/embedded/code' && mkdir -p '$(BUILD)/embedded/code'
	$(if $(EMBED_ARCHS),$(Q).ci/embed-code compile $(EMBED_PROGRAM) $< '$(KERNEL_CODE)' '$(BUILD)/embedded/code' \
	    '$(firstword $(wildcard $(CUDA_HOME)/lib64/libnvrtc.so))' $(EMBED_ARCHS))
	@.ci/embed-code write '$(BUILD)/embedded' $(EMBED_LISTS)
	@touch $@
$(BUILD)/embedded/code.S $(BUILD)/embedded/code_table.c: $(BUILD)/embedded/code.stamp ;
$(BUILD)/embedded/code.o: $(BUILD)/embedded/code.S $(BUILD)/flags.stamp
	$(call say,AS,$<)
	$(Q)$(CC) -c -o $@ $<
$(BUILD)/embedded/code_table.o $(BUILD)/embedded/no_code.o: $(BUILD)/embedded/%.o: $(BUILD)/embedded/%.c $(BUILD)/flags.stamp \
                                                            kernels/embedded_code.h kernels/code_compiler.h
	$(call say,CC,$<)
	$(Q)$(ROOM_CC) -c -o $@ $<

$(LIBRARY): $(LIB_OBJECTS)
	$(call say,AR,$@)
	@mkdir -p $(@D)
	@rm -f $@
	$(Q)$(AR) rcs $@ $^
$(PROGRAM): $(call objects_of,$(CLI_SOURCES)) $(LIBRARY) $(BUILD)/link.stamp
	$(call say,LINK,$@)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $(filter %.o %.a,$^) $(LIB_LIBS)

$(BUILD)/occam.1: docs/occam.1.in Makefile
	@mkdir -p $(@D)
	@sed 's/@VERSION@/$(VERSION)/g' $< > $@
$(BUILD)/occam.pc: occam.pc.in Makefile $(BUILD)/link.stamp
	@sed -e 's|@VERSION@|$(VERSION)|g' -e 's|@PREFIX@|$(PREFIX)|g' -e 's|@LIBS@|$(LIB_LIBS)|g' $< > $@

# ---- tables of compiled kernels -------------------------------------------------------------------------------------
RESOURCE_ARCHS := sm_80,sm_90,sm_100,sm_120
.PHONY: kernel-resources calibrations
kernel-resources: $(PROGRAM) ## compile the kernels for every architecture and rewrite their tables in data/resources
	@$(PROGRAM) measure data/campaigns/resources.plan --compile-only --arch $(RESOURCE_ARCHS) --cache $(KERNEL_CODE) \
	    --output data/resources

CALIBRATED := nvidia-h200:gqa-decode nvidia-h200:sparse-decode nvidia-h200:gemm-tile
CALIBRATION_ROWS := 200
calibrations: $(PROGRAM) ## learn data/calibrations again from data/measurements
	@mkdir -p data/calibrations
	@for one in $(CALIBRATED); do device=$${one%:*}; kernel=$${one#*:}; \
	    files=$$(ls data/measurements/$$device/$$(echo $$kernel | tr - _).csv data/measurements/$$device/$$(echo $$kernel | tr - _)_*.csv \
	        2>/dev/null | grep -v predictions); \
	    $(PROGRAM) calibrate $$files --scenario occam-$$kernel --train $(CALIBRATION_ROWS) \
	        --output data/calibrations/$$device-$$kernel.json || exit; done

# ---- tests -------------------------------------------------------------------------------------------------------
UNIT_SUITES := $(if $(SUITES),$(SUITES),$(patsubst tests/unit/test_%.c,%,$(sort $(wildcard tests/unit/test_*.c))))
PROPERTY_SUITES := $(if $(SUITES),$(SUITES),$(patsubst tests/property/prop_%.c,%,$(sort $(wildcard tests/property/prop_*.c))))
UNIT_RUNNER := $(BUILD)/tests/run-unit
PROPERTY_RUNNER := $(BUILD)/tests/run-property
GOLDEN_PROGRAM := $(BUILD)/tests/golden-predictions
SUPPORT_LIBRARY := $(BUILD)/tests/libsupport.a
SUPPORT_SOURCES := $(sort $(wildcard tests/support/*.c))
FUZZ_SECONDS ?= 60
FUZZ ?= $(patsubst tests/fuzz/fuzz_%.c,%,$(sort $(wildcard tests/fuzz/fuzz_*.c)))
FUZZ_CC ?= clang-14
FUZZ_FOLDER := $(BUILD)/tests/fuzz
FUZZ_REPLAYS := $(patsubst tests/fuzz/%.c,$(FUZZ_FOLDER)/replay/%,$(sort $(wildcard tests/fuzz/fuzz_*.c)))
FUZZ_PROGRAMS := $(patsubst %,$(FUZZ_FOLDER)/libfuzzer/fuzz_%,$(FUZZ))

$(BUILD)/tests/unit_list.c: FORCE
	@.ci/write-if-changed $@ "$$(.ci/suite-list suite_ $(UNIT_SUITES))"
$(BUILD)/tests/property_list.c: FORCE
	@.ci/write-if-changed $@ "$$(.ci/suite-list suite_prop_ $(PROPERTY_SUITES))"
$(BUILD)/tests/%_list.o: $(BUILD)/tests/%_list.c $(BUILD)/flags.stamp
	$(Q)$(TEST_CC) -c -o $@ $<
$(SUPPORT_LIBRARY): $(call objects_of,$(SUPPORT_SOURCES))
	@rm -f $@
	$(Q)$(AR) rcs $@ $^

define link_test
	$(call say,LINK,$@)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $(filter %.o,$^) $(SUPPORT_LIBRARY) $(LIBRARY) $(CHECK_LIBS) $(LIB_LIBS)
endef
TEST_LINK_INPUTS := $(SUPPORT_LIBRARY) $(LIBRARY) $(BUILD)/link.stamp
# The campaign tests start worker processes of the kernel runner; a part of the library cannot have it.
$(UNIT_RUNNER): $(patsubst %,$(BUILD)/tests/unit/test_%.o,$(UNIT_SUITES)) $(BUILD)/tests/unit_list.o $(TEST_LINK_INPUTS) \
                | $(if $(strip $(PARTIAL)),,$(PROGRAM))
	$(link_test)
$(PROPERTY_RUNNER): $(patsubst %,$(BUILD)/tests/property/prop_%.o,$(PROPERTY_SUITES)) $(BUILD)/tests/property_list.o \
                    $(TEST_LINK_INPUTS)
	$(link_test)
$(GOLDEN_PROGRAM): $(BUILD)/tests/golden/golden_predictions.o $(TEST_LINK_INPUTS)
	$(link_test)

.PHONY: need-check test test-all test-unit test-property test-golden test-cli test-python golden-accept valgrind coverage bench
need-check:
	@test '$(HAVE_CHECK)' = 1 || { echo 'The tests need Check: run  .ci/install test' >&2; exit 1; }

test: ## install what the tests need, build, run all tests (unit, property, golden, fuzz corpora, CLI)
	@.ci/install build test
	@$(MAKE) test-all
test-all: need-check $(UNIT_RUNNER) $(PROPERTY_RUNNER) $(GOLDEN_PROGRAM) $(PROGRAM) $(FUZZ_REPLAYS)
	@OCCAM='$(PROGRAM)' tests/run_all.sh '$(UNIT_RUNNER)' '$(PROPERTY_RUNNER)' '$(GOLDEN_PROGRAM)' '$(FUZZ_FOLDER)/replay'
test-unit: need-check $(UNIT_RUNNER) ## unit tests: SUITES="status csv" ROOMS="base" (or LIB_SOURCES="base/status.c")
	@$(UNIT_RUNNER)
test-property: need-check $(PROPERTY_RUNNER) ## seeded property tests: PROP_SEED, PROP_CASES
	@$(PROPERTY_RUNNER)
test-golden: $(GOLDEN_PROGRAM) ## compare predictions with tests/golden/predictions.csv
	@tests/golden/compare.sh '$(GOLDEN_PROGRAM)'
golden-accept: $(GOLDEN_PROGRAM) ## make today's predictions the golden ones (review the diff)
	@$(GOLDEN_PROGRAM) > $(BUILD)/tests/predictions.csv
	@mv $(BUILD)/tests/predictions.csv tests/golden/predictions.csv
	@git --no-pager diff --stat -- tests/golden/predictions.csv || :
test-cli: $(PROGRAM) ## command-line tests: make test-cli CASES="predict/*"
	@OCCAM='$(PROGRAM)' tests/cli/run.sh $(CASES)
test-python: $(PROGRAM) ## tests of bindings/python, with python3; skipped where there is none
	@OCCAM='$(PROGRAM)' tests/python/run.sh
.PHONY: test-report-browser
test-report-browser: $(PROGRAM) ## a report opened in headless Chromium, which is installed for it (90 MB); not part of make test
	@.ci/install browser || :
	@OCCAM='$(PROGRAM)' tests/browser/report.sh
# Suites of fits, simulations and whole files take valgrind minutes each; the sanitizers see them anyway.
VALGRIND_SKIP ?= \
    arrivals baselines byte_stream calibrated_time calibration_drift calibration_file claim_cases \
    code_agreement code_loops code_profile csv cta_simulator design effect_judge figure golden_scenario \
    kernel_fit kernel_resources ledger ledger_seals measure_campaign measured_rows occupancy own_kernels \
    ptx_listing random scenario scenario_errors search_engine serving_golden serving_simulator smem_rule \
    step_time_committee step_time_fit text_buffer tuner_results user_command validation
valgrind: need-check $(UNIT_RUNNER) ## unit tests under valgrind, without the slow ones (VALGRIND_SKIP= for all, half an hour)
	@TEST_SKIP='$(strip $(VALGRIND_SKIP))' CK_FORK=no CK_DEFAULT_TIMEOUT=0 TEST_QUICK=1 OMP_NUM_THREADS=1 \
	    valgrind -q --leak-check=full --errors-for-leak-kinds=definite --show-leak-kinds=definite --error-exitcode=9 $(UNIT_RUNNER)
coverage: ## line coverage of each room over the unit and property tests
	@$(MAKE) CONFIG=coverage coverage-run
.PHONY: coverage-run
coverage-run: need-check $(UNIT_RUNNER) $(PROPERTY_RUNNER)
	@find $(BUILD) -name '*.gcda' -delete
	@$(UNIT_RUNNER) && $(PROPERTY_RUNNER)
	@.ci/coverage-summary $(BUILD) $(call room_sources,$(filter-out cli,$(ALL_ROOMS)))

BENCH_SOURCES := $(sort $(wildcard tests/bench/*.c))
BENCH_PROGRAMS := $(patsubst tests/bench/%.c,$(BUILD)/tests/bench/%,$(BENCH_SOURCES))
BENCH_TRACE := $(BUILD)/tests/bench/bench_trace
BENCH_FOLDER ?= /tmp
$(BENCH_PROGRAMS): $(BUILD)/tests/bench/%: $(BUILD)/tests/bench/%.o $(TEST_LINK_INPUTS)
	$(link_test)
bench: $(PROGRAM) $(BENCH_PROGRAMS) ## speed of the program itself: predictions per second, memory, start-up
	@OCCAM='$(PROGRAM)' tests/bench/run.sh $(filter-out $(BENCH_TRACE),$(BENCH_PROGRAMS))
.PHONY: bench-trace
bench-trace: $(BENCH_TRACE) ## speed of the trace reader against a bare scan: writes 2 GB to BENCH_FOLDER=/tmp for a while
	@$(BENCH_TRACE) '$(BENCH_FOLDER)'

# ---- fuzzing -----------------------------------------------------------------------------------------------------
# Every tests/fuzz/fuzz_NAME.c is one target. With a plain compiler it is linked with the replay driver and tries the
# inputs of tests/fuzz/corpus/NAME; with clang and libFuzzer it looks for new ones (CONTRIBUTING.md).
$(FUZZ_REPLAYS): $(FUZZ_FOLDER)/replay/%: $(FUZZ_FOLDER)/%.o $(FUZZ_FOLDER)/replay_driver.o $(LIBRARY) $(BUILD)/link.stamp
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $(filter %.o %.a,$^) $(LIB_LIBS)
$(FUZZ_PROGRAMS): $(FUZZ_FOLDER)/libfuzzer/%: $(FUZZ_FOLDER)/%.o $(LIBRARY) $(BUILD)/link.stamp
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_LDFLAGS) -fsanitize=fuzzer -o $@ $(filter %.o %.a,$^) $(LIB_LIBS)
.PHONY: fuzz fuzz-run fuzz-replay fuzz-replay-run
fuzz: ## look for inputs that break a reader: FUZZ="sass ptx" FUZZ_SECONDS=60 (clang and libFuzzer: .ci/install fuzz)
	@command -v '$(FUZZ_CC)' >/dev/null || { echo 'fuzz needs $(FUZZ_CC): run  .ci/install fuzz' >&2; exit 1; }
	@$(MAKE) CC='$(FUZZ_CC)' CONFIG=release SANITIZE=fuzzer-no-link,address,undefined OPENMP= CUDA=0 STRICT=0 WARNINGS=-Wall \
	    ROOMS='base model/describe model/predict $(EVIDENCE_ROOMS)' FUZZ='$(FUZZ)' fuzz-run
fuzz-run: $(FUZZ_PROGRAMS)
	@FUZZ_SECONDS='$(FUZZ_SECONDS)' tests/fuzz/fuzz.sh $(FUZZ_FOLDER)/libfuzzer $(FUZZ)
fuzz-replay: ## try all inputs of tests/fuzz/corpus again, under the sanitizers of the plain compiler
	@$(MAKE) SANITIZE=address,undefined fuzz-replay-run
fuzz-replay-run: $(FUZZ_REPLAYS)
	@tests/fuzz/replay.sh $(FUZZ_FOLDER)/replay

# ---- reports -----------------------------------------------------------------------------------------------------
.PHONY: report
REPORT_PROGRAMS := $(patsubst tests/report/%.c,$(BUILD)/tests/report/%,$(sort $(wildcard tests/report/*.c)))
$(REPORT_PROGRAMS): $(BUILD)/tests/report/%: $(BUILD)/tests/report/%.o $(TEST_LINK_INPUTS)
	$(link_test)
report: $(REPORT_PROGRAMS) ## print the measured tables of docs/VALIDATION.md: OCCAM_SHARED=folder with the reference data
	@tests/report/run.sh $(BUILD)/tests/report

.PHONY: replay
REPLAY_PROGRAMS := $(patsubst tests/replay/%.c,$(BUILD)/tests/replay/%,$(sort $(wildcard tests/replay/*.c)))
$(REPLAY_PROGRAMS): $(BUILD)/tests/replay/%: $(BUILD)/tests/replay/%.o $(TEST_LINK_INPUTS)
	$(link_test)
replay: $(REPLAY_PROGRAMS) ## rewrite the tables of searches in docs/VALIDATION.md: replays of known spaces (REPEATS=100 JOBS=16; long)
	@tests/replay/replay.sh $(BUILD)/tests/replay docs/VALIDATION.md $(BUILD)/replayed
	@echo 'replay: $(BUILD)/replayed has a table a space, for occam plot regret'

.PHONY: validate
validate: $(PROGRAM) ## rewrite the calibrated tables of docs/VALIDATION.md: held-out errors, baselines, coverage (SEEDS=20)
	@tests/report/validate.sh '$(PROGRAM)' docs/VALIDATION.md

.PHONY: validate-sim
validate-sim: $(PROGRAM) ## rewrite the table of docs/VALIDATION.md that puts formula, simulator and measurement side by side
	@tests/report/validate_sim.sh '$(PROGRAM)' docs/VALIDATION.md

# ---- demo --------------------------------------------------------------------------------------------------------
.PHONY: demo demo-run setup-build setup-test setup-check
demo: ## install what is missing, build, and run the golden scenario to its answer
	@.ci/install build demo
	@$(MAKE) demo-run
demo-run: all
	@OCCAM='$(PROGRAM)' FIGURES='$(BUILD_ROOT)/demo' tools/demo.sh
.PHONY: figures
figures: $(PROGRAM) ## draw docs/images again (look at them before they are committed)
	@OCCAM='$(PROGRAM)' tools/figures.sh
setup-build: ## install the packages of the build
	@.ci/install build demo
setup-test: ## install the packages of the tests
	@.ci/install build test
setup-check: ## install the packages of the checks
	@.ci/install build test check

# ---- checks ------------------------------------------------------------------------------------------------------
.PHONY: check format format-check lint check-headers check-layers check-data check-docs check-words man
check: format-check check-words check-layers check-data check-docs check-headers lint man ## all static checks
format: ## lay out all C files with clang-format
	@clang-format -i $(FORMATTED)
format-check: ## fail if clang-format would change a file
	@clang-format --dry-run --Werror $(FORMATTED) && echo 'format: $(words $(FORMATTED)) files as they should be'
lint: ## cppcheck, and clang-tidy when present
	@.ci/lint '$(BUILD)' '$(ALL_CPPFLAGS) $(LIB_CFLAGS)' $(call room_sources,$(ALL_ROOMS)) $(EXAMPLE_SOURCES)
check-headers: ## every header compiles alone
	@CC='$(CC)' .ci/check-headers '$(ALL_CPPFLAGS) $(LIB_CFLAGS) $(CHECK_CFLAGS) -std=c17 $(WARNINGS)' $(filter %.h,$(FORMATTED))
check-layers: ## who may include whom; no printing and no exit below cli/
	@.ci/check-layers
check-data: ## data files are plain text with sources
	@.ci/check-data
check-docs: ## commands, man page, completion, tests and equation ids agree
	@OCCAM='$(wildcard $(PROGRAM))' .ci/check-docs
check-words: ## nothing in the tree speaks of one machine
	@.ci/check-words
man: $(BUILD)/occam.1 ## build the man page and lint it
	@if command -v mandoc >/dev/null; then mandoc -Tlint -Wwarning $< && echo 'man: clean'; else echo 'man: built; mandoc is missing, not linted'; fi

compile_commands.json: FORCE ## for editors and clang-tidy
	@.ci/compile-commands '$(ROOM_CC)' '$(TEST_CC)' $(C_SOURCES) > $@

# ---- install -----------------------------------------------------------------------------------------------------
.PHONY: install uninstall portable example
INSTALLED_HEADERS := $(addprefix $(DESTDIR)$(PREFIX)/include/occam/,$(PUBLIC_HEADERS) occam.h)
install: all $(BUILD)/occam.pc ## install below PREFIX (default /usr/local), DESTDIR for packaging
	@install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/lib/pkgconfig $(DESTDIR)$(PREFIX)/share/man/man1 \
	    $(DESTDIR)$(PREFIX)/share/bash-completion/completions $(DESTDIR)$(PREFIX)/share/occam/python \
	    $(sort $(dir $(INSTALLED_HEADERS)))
	@install -m 755 $(PROGRAM) $(DESTDIR)$(PREFIX)/bin/occam
	@install -m 644 $(LIBRARY) $(DESTDIR)$(PREFIX)/lib/liboccam.a
	@install -m 644 $(BUILD)/occam.pc $(DESTDIR)$(PREFIX)/lib/pkgconfig/occam.pc
	@install -m 644 $(BUILD)/occam.1 $(DESTDIR)$(PREFIX)/share/man/man1/occam.1
	@install -m 644 completions/occam.bash $(DESTDIR)$(PREFIX)/share/bash-completion/completions/occam
	@install -m 644 bindings/python/occam_prune.py $(DESTDIR)$(PREFIX)/share/occam/python/occam_prune.py
	@for header in $(PUBLIC_HEADERS) occam.h; do \
	    install -m 644 $$header $(DESTDIR)$(PREFIX)/include/occam/$$header || exit 1; done
	@echo 'installed below $(DESTDIR)$(PREFIX): bin/occam, lib/liboccam.a, include/occam, share/occam/python, man page, completion'
uninstall: ## remove what install put there
	@rm -f $(DESTDIR)$(PREFIX)/bin/occam $(DESTDIR)$(PREFIX)/lib/liboccam.a $(DESTDIR)$(PREFIX)/lib/pkgconfig/occam.pc \
	    $(DESTDIR)$(PREFIX)/share/man/man1/occam.1 $(DESTDIR)$(PREFIX)/share/bash-completion/completions/occam
	@rm -rf $(DESTDIR)$(PREFIX)/include/occam $(DESTDIR)$(PREFIX)/share/occam
portable: $(call objects_of,$(CLI_SOURCES)) $(LIBRARY) ## dist/occam: program, its libraries, plans and device_run.sh in one folder, for a GPU host
	@CC='$(CC)' .ci/portable dist/occam '$(ALL_LDFLAGS)' '$(filter %.o,$^) $(LIBRARY) $(LIB_LIBS)'
EXAMPLES := $(patsubst examples/%.c,$(BUILD)/examples/%,$(EXAMPLE_SOURCES))
$(EXAMPLES): $(BUILD)/examples/%: $(BUILD)/examples/%.o $(LIBRARY) $(BUILD)/link.stamp
	$(call say,LINK,$@)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $(filter %.o %.a,$^) $(LIB_LIBS)
example: $(EXAMPLES) ## build the programs of examples/ that call the library

clean: ## remove this configuration's output
	@rm -rf '$(BUILD)'
distclean: ## remove all output
	@rm -rf '$(BUILD_ROOT)' dist compile_commands.json
.PHONY: help clean distclean
help: ## this list
	@echo 'make TARGET [CONFIG=release|debug|coverage] [SANITIZE=address,undefined] [STRICT=1] [V=1] [BUILD_ROOT=build]'
	@sed -n 's/^\([a-z][a-z_.-]*\):.*## \(.*\)/\1\t\2/p' Makefile | awk -F'\t' '{ printf "  %-22s %s\n", $$1, $$2 }'

-include $(patsubst %.c,$(BUILD)/%.d,$(C_SOURCES))
