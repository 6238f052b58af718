if ! command -v weir >/dev/null; then
  if [ -z "${WEIR_URL:-}" ]; then
    echo 'weir is not on this runner: install it there, or set the variable WEIR_URL to where its binary can be fetched' >&2
    exit 6
  fi
  bin=$(mktemp -d)
  curl --fail --silent --show-error --location --retry 3 --output "$bin/weir" "$WEIR_URL" || exit 6
  if [ -n "${WEIR_SHA256:-}" ]; then
    echo "$WEIR_SHA256  $bin/weir" | sha256sum --check || exit 6
  fi
  chmod +x "$bin/weir"
  export PATH="$bin:$PATH"
fi
weir version
rm -rf {{.Dir}}
