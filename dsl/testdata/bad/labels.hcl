scenario {
}
