#!/bin/bash
set -e
{{.Install}}
{{- if .Baseline}}
if [ -n "${WEIR_BASELINES:-}" ]; then
  mkdir -p "$WEIR_BASELINES/{{.Job}}"
  ln -sfn "$WEIR_BASELINES/{{.Job}}" {{.Baseline}}
fi
MISSING=skip
if [ -z "${CHANGE_ID:-}" ]; then # no pull request
  MISSING=record
  if [ -n "${WEIR_RENEW:-}" ]; then rm -f {{.Baseline}}/results.json; fi # make this result the baseline
fi
{{.Run}}
{{- else}}
{{.Run}}
{{- end}}
