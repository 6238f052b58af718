version = 1
run "a" {}
