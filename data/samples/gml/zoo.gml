graph [
  DateObtained "22/10/10"
  Network "Small &#38; Old"
  node [
    id 0
    label "Vienna"
    Longitude 16.37208
    Internal 1
  ]
  node [
    id 1
    label "None"
    Internal 0
  ]
  node [
    id 5
    label "Graz"
    Longitude 15.45
    Internal 1
    graphics [ x 1.0 y 2.0 ]
  ]
  edge [
    source 0
    target 1
    LinkLabel "1 Gbit/s &#62;"
  ]
  edge [
    source 1
    target 5
  ]
]
