// Command empty does nothing: what a Go process costs at least.
package main

func main() {}
