// Command empty does nothing. Its time is the lower bound of any Go process.
package main

func main() {}
