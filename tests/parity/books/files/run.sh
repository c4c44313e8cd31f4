#!/bin/sh
# Says a word: a script of the differential tests.
echo script
