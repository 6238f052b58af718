/* Tests of a fabric's options: their values, and errors that name the option. */
#include "options_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../rank_options.h"
#include "../rank.h"

struct read_options { /* as a fabric has them */
    char text[8];
    int yes, choice;
};

static int read_all(struct weir_rank *r, struct read_options *o)
{
    static const char *const ways[] = {"one", "two"};
    int rc;
    if ((rc = option_copy(r, "text", o->text, sizeof o->text)) < 0) {
        return rc;
    }
    if ((rc = option_bool(r, "yes", &o->yes)) < 0) {
        return rc;
    }
    if ((rc = option_choice(r, "way", ways, 2, &o->choice)) < 0) {
        return rc;
    }
    return options_all_known(r);
}

/* Reads options from these lines; returns NULL or the error's text. */
static const char *gives(const char *lines, struct read_options *o)
{
    static struct weir_err err;
    static struct weir_control control;
    struct weir_rank *r = calloc(1, sizeof *r);
    memset(&err, 0, sizeof err);
    *o = (struct read_options){.text = "before"};
    r->cfg.options = lines;
    r->cfg.control = &control;
    r->fab = weir_fabric_find("shm");
    r->err = &err;
    int rc = read_all(r, o);
    free(r);
    return rc < 0 ? err.text : NULL;
}

int options_tested(void)
{
    static const struct {
        const char *lines, *error;
        struct read_options want;
    } all[] = {
        {NULL, NULL, {"before", 0, 0}},
        {"", NULL, {"before", 0, 0}},
        {"way=two\nyes=true\ntext=a=b\n", NULL, {"a=b", 1, 1}},
        {"text=\nyes=false\n", NULL, {"", 0, 0}},
        {"text=12345678\n", "option text is \"12345678\", too long", {"before", 0, 0}},
        {"text=1234567\nway=one", NULL, {"1234567", 0, 0}},
        {"yes=tru\n", "option yes is \"tru\", not one of its values", {"before", 0, 0}},
        {"way=\n", "option way is \"\", not one of its values", {"before", 0, 0}},
        {"yes=true\nyess=true\n", "fabric shm has no option yess", {"before", 1, 0}},
        {"yes\n", "option yes is \"\", not one of its values", {"before", 0, 0}},
    };
    int bad = 0;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct read_options got;
        const char *error = gives(all[i].lines, &got);
        int unlike = error && all[i].error ? strcmp(error, all[i].error) : error != all[i].error;
        if (unlike || strcmp(got.text, all[i].want.text) || got.yes != all[i].want.yes ||
            got.choice != all[i].want.choice) {
            printf("FAIL options %s: \"%s\", %d, %d, %s\n", all[i].lines ? all[i].lines : "(none)",
                   got.text, got.yes, got.choice, error ? error : "no error");
            bad++;
        }
    }
    printf("%s options are read, and errors name them\n", bad ? "FAIL" : "ok  ");
    return bad;
}
