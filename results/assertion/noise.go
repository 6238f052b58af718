package assertion

// Noise is the known variation of a metric of a case: the standard deviations of its logarithm between
// launches of a session and between sessions, with their degrees of freedom.
type Noise struct {
	// Case is a key; "": the assertion's own case.
	Case      string  `json:"case,omitempty" doc:"Key of the case; absent: that of the assertion."`
	Metric    string  `json:"metric"`
	Launch    float64 `json:"launch" doc:"Standard deviation of the logarithm between launches of a session." schema:"minimum=0"`
	LaunchDF  float64 `json:"launch_df,omitzero" doc:"Degrees of freedom of launch; absent: it is taken as exact." schema:"minimum=0"`
	Session   float64 `json:"session,omitzero" doc:"Standard deviation of the logarithm that sessions add." schema:"minimum=0"`
	SessionDF float64 `json:"session_df,omitzero" doc:"Degrees of freedom of session; absent: it is taken as exact." schema:"minimum=0"`
	// KnowsSessions says that Session was measured or declared, even if it is 0.
	KnowsSessions bool   `json:"knows_sessions,omitzero" doc:"Whether session was found or promised, if only as 0."`
	From          string `json:"from" doc:"Where it is known from."`
}
