scenario "bad" {
  variable "a" {
    type = quick
    default = 1
  }
  variable "b" {
    type = "time"
    default = 5
  }
  variable "c" { default = var.a }
  variable "a" { default = 2 }
}
