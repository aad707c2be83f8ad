# geo
node.geo N1:	EU	AT	9	Wien	48.2	16.37		maxmind
node.geo N4:	EU	AT	9	Graz	47.0	15.4
