node.AS N1 64500 origin
node.AS N2 64501 refinement
node.AS N4 64501
node.AS N9 1 x
