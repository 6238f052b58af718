scenario "bad" {
  description = "café"
}
