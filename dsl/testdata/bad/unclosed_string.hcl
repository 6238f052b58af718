scenario "bad" {
  description = "open
}
