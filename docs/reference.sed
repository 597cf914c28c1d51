# Has Doxygen read the comment at the beginning of a header, below the license, as the header's description.
2s|^// |/// \\file\n/// |
3,/^[^/]/s|^//|///|
