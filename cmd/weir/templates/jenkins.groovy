// Made by: {{.Made}}
// A variable WEIR_URL of the job or folder says where agents without weir fetch it,
// WEIR_SHA256 what the file must be.
{{- if .Baseline}}
// The baseline is the first good result. It is kept in the workspace, of which each agent and each branch of a
// multibranch job has its own. WEIR_BASELINES names a folder that all of them see, to keep it there. With WEIR_RENEW
// a good result becomes the baseline.
{{- end}}
pipeline {
  agent {{.Agent}}
  options {
    timeout(time: {{.Minutes}}, unit: 'MINUTES') // weir ends before, with a report of what it has measured
  }
  stages {
    stage({{groovy .Job}}) {
      steps {
        script {
          int code = sh(returnStatus: true, script: {{groovy .Script}})
          if (code == 3) {
            unstable('inconclusive: nothing has failed, and some gate is undecided')
          } else if (code != 0) {
            error("weir ended with exit code ${code}")
          }
        }
      }
    }
  }
  post {
    always {
      junit(testResults: {{groovy (print .Dir "/junit.xml")}}, allowEmptyResults: true)
      archiveArtifacts(artifacts: {{groovy (print .Dir "/**")}}, allowEmptyArchive: true)
    }
  }
}
