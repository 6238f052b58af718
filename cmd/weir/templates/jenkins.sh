#!/bin/bash
set -e
{{.Install}}
{{- if .Baseline}}
if [ -n "${WEIR_BASELINES:-}" ]; then
  mkdir -p "$WEIR_BASELINES/{{.Job}}"
  ln -sfn "$WEIR_BASELINES/{{.Job}}" {{.Baseline}}
fi
code=0
{{.Run}} || code=$?
if [ "$code" -eq 0 ] && [ -z "${CHANGE_ID:-}" ]; then
  mkdir -p {{.Baseline}} # the last good result that is of no pull request
  cp {{.Dir}}/results.json {{.Baseline}}/
fi
exit "$code"
{{- else}}
{{.Run}}
{{- end}}
