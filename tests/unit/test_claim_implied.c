/* SPDX-License-Identifier: GPL-3.0-or-later
 * A scenario turned round: which knobs give a claimed size, what lies near one that none gives, what then fits. */
#include <check.h>
#include <string.h>

#include "evidence/claims/claim_implied.h"

Suite *suite_claim_implied(void);

struct turned {
    struct device_catalogue *catalogue;
    struct scenario *scenario;
    struct scenario_evaluator *evaluator;
    double base[IMPLIED_VALUES_MAX];
    struct implied_search search;
};

static void turned_open(struct turned *self)
{
    struct error error = {0};
    *self = (struct turned){0};
    ck_assert_int_eq(device_catalogue_create(&self->catalogue, &error), STATUS_OK);
    ck_assert_msg(scenario_read("dsv4-flash-sparse-decode", self->catalogue, NULL, &self->scenario, &error) ==
                      STATUS_OK,
                  "%s", error.text);
    ck_assert_int_eq(scenario_evaluator_create(self->scenario, &self->evaluator, &error), STATUS_OK);
    scenario_base_values(self->scenario, self->base);
    self->search = (struct implied_search){
        .scenario = self->scenario, .evaluator = self->evaluator, .base = self->base, .kernel = 0};
}

static void turned_close(struct turned *self)
{
    scenario_evaluator_free(self->evaluator);
    scenario_free(self->scenario);
    device_catalogue_free(self->catalogue);
}

static struct claim_story story_of(double low, double high, double threads)
{
    struct claim_story story = {0};
    story.figures[CLAIM_LAUNCH_SMEM] = (struct claim_value){true, low, high};
    if (threads > 0) {
        story.figures[CLAIM_THREADS] = (struct claim_value){true, threads, threads};
    }
    return story;
}

static double knob(const struct turned *self, const struct claim_implied *implied, const char *name)
{
    const long index = scenario_variable_find(self->scenario, name);
    ck_assert_int_ge(index, 0);
    ck_assert_msg(implied->is_set[index], "%s is not implied", name);
    return implied->values[index];
}

START_TEST(golden_sizes_name_block_h)
{
    struct turned self;
    struct error error = {0};
    struct claim_implied implied[2];
    const struct claim_story stories[] = {story_of(80000, 80000, 128), story_of(61568, 61568, 128)};
    turned_open(&self);
    ck_assert_int_eq(claim_implied_find(&self.search, stories, 2, implied, &error), STATUS_OK);
    for (int i = 0; i < 2; i++) {
        ck_assert_uint_gt(implied[i].matches, 0);
        ck_assert_double_eq(knob(&self, &implied[i], "block_h"), i == 0 ? 32 : 16);
        ck_assert_double_eq(knob(&self, &implied[i], "BLOCK_T"), 16);
        ck_assert_double_eq(knob(&self, &implied[i], "num_stages"), 2);
        ck_assert_double_eq(knob(&self, &implied[i], "num_warps"), 4);
        ck_assert(!implied[i].is_set[scenario_variable_find(self.scenario, "TARGET_CTAS")]);
    }
    struct implied_flip flips[IMPLIED_FLIPS_MAX];
    const size_t count = claim_implied_flips(&self.search, &scenario_device(self.scenario)->limits, implied[0].values,
                                             implied[1].values, flips);
    ck_assert_uint_eq(count, 1);
    ck_assert_str_eq(scenario_variable_get(self.scenario, flips[0].knob)->name, "num_stages");
    ck_assert_double_eq(flips[0].value, 3);
    ck_assert(!flips[0].fits[0] && flips[0].fits[1]);
    ck_assert_double_eq(flips[0].smem_bytes[0], 101568);
    ck_assert_int_eq(flips[0].smem_over_limit_bytes[0], 192);
    ck_assert_double_eq(flips[0].smem_bytes[1], 83136);
    turned_close(&self);
}
END_TEST

/* "80 KB" and "60 KB" as people write them. */
START_TEST(rounded_sizes_still_tell)
{
    struct turned self;
    struct error error = {0};
    struct claim_implied implied[3];
    const struct claim_story stories[] = {story_of(79500, 82432, 0), story_of(59500, 61952, 0),
                                          story_of(10000, 200000, 0)};
    turned_open(&self);
    ck_assert_int_eq(claim_implied_find(&self.search, stories, 3, implied, &error), STATUS_OK);
    ck_assert_double_eq(knob(&self, &implied[0], "block_h"), 32);
    ck_assert_double_eq(knob(&self, &implied[1], "block_h"), 16);
    /* Everything: several values of each. */
    ck_assert(implied[2].is_open[scenario_variable_find(self.scenario, "block_h")]);
    ck_assert(!implied[2].is_set[scenario_variable_find(self.scenario, "block_h")]);
    ck_assert(implied[2].is_ambiguous && implied[2].has_more_examples && !implied[0].is_ambiguous);
    ck_assert_uint_eq(implied[2].example_count, IMPLIED_EXAMPLES_MAX);
    ck_assert_uint_eq(implied[0].example_count, 0);
    ck_assert_uint_eq(implied[2].matches, 256); /* 384 configurations, a third of them forbidden */
    turned_close(&self);
}
END_TEST

START_TEST(no_configuration_names_the_nearest)
{
    struct turned self;
    struct error error = {0};
    struct claim_implied implied[4];
    const struct claim_story stories[] = {
        story_of(70000, 70000, 128), story_of(80000, 80000, 96), {0}, story_of(1, 1, 128)};
    turned_open(&self);
    ck_assert_int_eq(claim_implied_find(&self.search, stories, 4, implied, &error), STATUS_OK);
    ck_assert_uint_eq(implied[0].matches, 0);
    ck_assert(implied[0].below.is_known && implied[0].above.is_known);
    ck_assert_double_eq(implied[0].below.smem_bytes, 61568);
    ck_assert_double_eq(implied[0].above.smem_bytes, 80000);
    /* No configuration has 96 threads: the size alone still tells. */
    ck_assert(implied[1].threads_ignored);
    ck_assert_double_eq(knob(&self, &implied[1], "block_h"), 32);
    /* No size, no match; below the smallest there is nothing. */
    ck_assert_uint_eq(implied[2].matches, 0);
    ck_assert(!implied[2].below.is_known && !implied[2].above.is_known);
    ck_assert(!implied[3].below.is_known && implied[3].above.is_known);
    turned_close(&self);
}
END_TEST

Suite *suite_claim_implied(void)
{
    Suite *suite = suite_create("claim_implied");
    TCase *tcase = tcase_create("turned round");
    tcase_add_test(tcase, golden_sizes_name_block_h);
    tcase_add_test(tcase, rounded_sizes_still_tell);
    tcase_add_test(tcase, no_configuration_names_the_nearest);
    suite_add_tcase(suite, tcase);
    return suite;
}
