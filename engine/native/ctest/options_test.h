#ifndef OPTIONS_TEST_H
#define OPTIONS_TEST_H

int options_tested(void); /* number of failed checks of rank_options.c */

#endif
