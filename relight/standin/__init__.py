"""A stand-in for SGLang: its outside in small, for rehearsals and tests, on a bare python3 >= 3.9.

It answers with made-up words, needs no GPU, and says in its first line that it is a stand-in.
"""
