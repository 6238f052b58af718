package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"log"
	"math/big"
	"net/http"
	"os"
	"time"

	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// serveLogs answers the API server, which asks for what containers wrote.
func (k *kubelet) serveLogs() {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		log.Fatal(err)
	}
	about := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(24 * time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, about, about, &key.PublicKey, key)
	if err != nil {
		log.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/containerLogs/{namespace}/{pod}/{container}", k.serveLog)
	mux.HandleFunc("/exec/{namespace}/{pod}/{container}", k.serveExec)
	mux.HandleFunc("/portForward/{namespace}/{pod}", k.servePorts)
	s := &http.Server{
		Addr: fmt.Sprintf("127.0.0.1:%d", k.port), Handler: mux,
		TLSConfig: &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}},
	}
	log.Fatal(s.ListenAndServeTLS("", ""))
}

func (k *kubelet) serveLog(w http.ResponseWriter, r *http.Request) {
	namespace, pod := r.PathValue("namespace"), r.PathValue("pod")
	f, err := os.Open(k.logPath(namespace, pod))
	if err != nil {
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	}
	defer f.Close()
	for over := false; ; time.Sleep(100 * time.Millisecond) {
		if _, err := io.Copy(w, f); err != nil || over || r.URL.Query().Get("follow") != "true" {
			return
		}
		w.(http.Flusher).Flush()
		p, err := k.api.CoreV1().Pods(namespace).Get(r.Context(), pod, meta.GetOptions{})
		over = err != nil || p.Status.Phase == core.PodSucceeded || p.Status.Phase == core.PodFailed
	}
}
