// Package gateway stands between a client and the Messages API. It passes every
// request on as it came but for two things. Old results of tools that the archive
// gives back give way to a line with their handle, so that a conversation takes
// longer to fill its window. And the request in which the client asks the model
// to summarise the conversation is answered here, with the record that `compact`
// makes, without a model.
//
// What a request becomes depends on its own bytes and on nothing else that could
// change between two requests: the API caches the longest prefix that it has seen,
// and a result that was replaced once has to be replaced the same way for ever.
// Results are therefore given up at cuts, seldom and many at once, and every
// request finds the cuts of those before it again by going through the
// conversation from its beginning.
//
// A request that is not understood is passed on untouched.
package gateway
