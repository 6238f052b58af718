#!/bin/bash
set -e
{{.Install}}
{{- if .Baseline}}
if [ -n "${WEIR_BASELINES:-}" ]; then
  mkdir -p "$WEIR_BASELINES/{{.Job}}"
  ln -sfn "$WEIR_BASELINES/{{.Job}}" {{.Baseline}}
fi
MISSING=skip
# the main branch of a multibranch job, or a job of one branch
if [ -z "${CHANGE_ID:-}" ] && { [ -z "${BRANCH_NAME:-}" ] || [ "${BRANCH_IS_PRIMARY:-}" = true ]; }; then
  MISSING=record
  if [ -n "${WEIR_RENEW:-}" ]; then rm -f {{.Baseline}}/results.json; fi # make this result the baseline
fi
{{.Run}}
{{- else}}
{{.Run}}
{{- end}}
