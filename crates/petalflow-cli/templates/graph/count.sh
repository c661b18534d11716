#!/bin/sh
# The tool of the node `count`: reads {"input": .., "vars": {"letter": ..}} and prints {"length": ..}.
letter=$(sed 's/.*"letter":"\([^"]*\)".*/\1/')
echo "{\"length\": ${#letter}}"
